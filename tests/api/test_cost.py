"""What was spent, however it is divided: every cost once, and the same sum."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api import cost
from moot.api.cost import By, Costs, Line, Spend, Within
from moot.core.ids import InstanceName
from moot.core.tx import Tx
from moot.ledger.usage import DOLLAR, Spent
from moot.registry import runs
from moot.registry.instances import InstanceNotFound
from moot.store.store import Store
from tests.api import books
from tests.api.books import Asked
from tests.modelled import DATABASES, bench
from tests.registry.house import build

BYS: tuple[By, ...] = ("agent", "model", "run")
_places = count(1)


def named(found: Costs) -> dict[str, Spend]:
    return {line.name: line.spend for line in found.lines}


async def look(store: Store, by: By, only: str | None = None) -> Costs:
    return await store.read(lambda tx: cost.look(tx, by, Within(InstanceName(only) if only else None)))


async def fill(store: Store) -> None:
    """A session with a helper of its own in a run, a program in it, and a program outside of runs."""

    def change(tx: Tx) -> None:
        lead = books.join(tx, "lead", model="anthropic/opus")
        run = books.run(tx, "fix")
        session = books.begin(tx, lead, run)
        more = {"cache_read_tokens": 60, "cache_write_tokens": 30, "reasoning_tokens": 4}
        books.ask(
            tx,
            session,
            Asked("t1/m", "", "lead", cost=20_000, tokens=(100, 10), more=more),
            Asked("t1/c1/s/t1/m", "haiku", "helper", "failed"),
            Asked("t1/c1/s/t1/m", "sonnet", "helper", cost=3_000, tokens=(50, 5), number=2),
            Asked("t2/m", "", "lead", "unknown", cost=7_000),
        )
        program = books.begin(tx, books.join(tx, "coder", backend="claude", model="sonnet"), run)
        program.spend(tx, Spent(1_000, 100, 9, 0.5))
        runs.end(tx, run, "done")
        outside = books.begin(tx, books.join(tx, "bob", backend="codex"))
        outside.spend(tx, Spent(10, 1, 2, 0.000001, is_estimated=True))

    await (await build(store)).write(change)


async def test_whoever_was_asked_pays_for_those_it_asked(store: Store) -> None:
    await fill(store)
    found = await look(store, "agent")
    assert [line.name for line in found.lines] == ["coder", "lead", "bob"]
    lead = found.lines[1]
    assert lead.spend == Spend(1, 4, 1, 150, 15, 60, 30, 4, 30_000, 7_000, is_estimated=True)
    assert [(part.name, part.spend.calls, part.spend.cost) for part in lead.parts] == [
        ("lead", 2, 27_000),
        ("helper", 2, 3_000),
    ]
    assert found.lines[0].parts == ()
    assert found.total == Spend(3, 15, 1, 1_160, 116, 60, 30, 4, 530_001, 7_000, is_estimated=True)


async def test_programs_count_under_their_model_and_else_under_their_backend(store: Store) -> None:
    await fill(store)
    found = named(await look(store, "model"))
    assert {name: (spend.calls, spend.cost, spend.is_estimated) for name, spend in found.items()} == {
        "sonnet": (10, 503_000, False),
        "anthropic/opus": (2, 27_000, True),
        "haiku": (1, 0, False),
        "codex": (2, 1, True),
    }


async def test_what_is_spent_outside_of_runs_has_a_line_of_its_own(store: Store) -> None:
    await fill(store)
    found = await look(store, "run")
    assert [(line.name, line.id[:3], line.spend.cost) for line in found.lines] == [
        ("(no run)", "in_", 1),
        ("fix", "wf_", 530_000),
    ]


async def test_what_is_under_way_is_set_aside_and_not_spent(store: Store) -> None:
    def change(tx: Tx) -> None:
        begun = books.begin(tx, books.join(tx, "lead", model="opus"))
        books.ask(tx, begun, Asked("t1/m", "", "lead", "started", cost=9_000))

    await (await build(store)).write(change)
    (line,) = (await look(store, "agent")).lines
    assert (line.spend.calls, line.spend.cost, line.spend.reserved) == (1, 0, 9_000)


async def test_one_instance_can_be_asked_for(store: Store) -> None:
    await fill(store)

    def change(tx: Tx) -> None:
        books.begin(tx, books.join(tx, "eve", "other", backend="codex")).spend(tx, Spent(dollars=1.0))

    await (await build(store)).write(change)
    assert [line.name for line in (await look(store, "agent", "other")).lines] == ["eve@other"]
    assert (await look(store, "run", "other")).total.cost == DOLLAR
    assert "eve@other" in named(await look(store, "agent"))
    assert "eve@other" not in named(await look(store, "agent", "default"))
    with pytest.raises(InstanceNotFound):
        await look(store, "agent", "nowhere")


async def test_as_data_only_those_who_were_asked_have_attempts(store: Store) -> None:
    await fill(store)
    plain = cost.document(await look(store, "agent"))
    lines = plain["lines"]
    assert isinstance(lines, list)
    assert isinstance(plain["total"], dict)
    assert plain["total"]["cost"] == 0.530001
    lead = lines[1]
    assert isinstance(lead, dict)
    assert (lead["name"], lead["attempts"], lead["cost"]) == ("lead", 1, 0.03)
    parts = lead["parts"]
    assert isinstance(parts, list)
    assert [set(part) & {"attempts"} for part in parts if isinstance(part, dict)] == [set(), set()]


AMOUNTS = st.integers(0, 10**9)
MODELS = st.sampled_from(["", "opus", "sonnet", "haiku"])
ASKED = st.builds(
    Asked,
    path=st.just(""),
    model=MODELS,
    agent=st.sampled_from(["lead", "helper", "critic"]),
    state=st.sampled_from(["done", "done", "failed", "unknown", "started"]),
    cost=AMOUNTS,
    tokens=st.tuples(AMOUNTS, AMOUNTS),
    is_estimated=st.booleans(),
    more=st.fixed_dictionaries({"cache_read_tokens": AMOUNTS, "reasoning_tokens": AMOUNTS}),
)
SPENT = st.builds(
    Spent, AMOUNTS, AMOUNTS, st.integers(0, 99), AMOUNTS.map(lambda one: one / DOLLAR), is_estimated=st.booleans()
)
DEEDS = st.lists(
    st.tuples(st.sampled_from(["lead", "coder"]), st.booleans(), st.one_of(SPENT, st.lists(ASKED, max_size=5))),
    max_size=8,
)
Deeds = list[tuple[str, bool, Spent | list[Asked]]]


def perform(deeds: Deeds, instance: str) -> Callable[[Tx], Spend]:
    """Do all of it; what that costs, added up on the way."""

    def change(tx: Tx) -> Spend:
        expected = Spend()
        run = books.run(tx, "work", instance)
        for name, is_in_run, did in deeds:
            agent = books.join(tx, name, instance, model="opus" if name == "lead" else None)
            begun = books.begin(tx, agent, run if is_in_run else None)
            expected += Spend(attempts=1)
            if isinstance(did, Spent):
                begun.spend(tx, did)
                cost = round(did.dollars * DOLLAR)
                expected += Spend(0, did.turns, 0, did.input_tokens, did.output_tokens, cost=cost)
                continue
            is_lost = any(one.state == "unknown" for one in did)  # and so is all that was under way
            asked = [replace(one, path=f"t{at}/m") for at, one in enumerate(did, 1)]
            books.ask(tx, begun, *asked)
            for one in asked:
                expected += of(replace(one, state="unknown") if is_lost and one.state == "started" else one)
        return expected

    return change


def of(one: Asked) -> Spend:
    if one.state == "done":
        cached, reasoned = one.more["cache_read_tokens"], one.more["reasoning_tokens"]
        return Spend(0, 1, 0, *one.tokens, cost=one.cost, cache_read_tokens=cached, reasoning_tokens=reasoned)
    if one.state == "unknown":
        return Spend(0, 1, 1, cost=one.cost, unknown_cost=one.cost)
    return Spend(0, 1, reserved=one.cost if one.state == "started" else 0)


def summed(lines: tuple[Line, ...]) -> tuple[int, ...]:
    total = Spend()
    for line in lines:
        total += line.spend
        if line.parts:
            assert amounts(line.spend) == summed(line.parts)
    return amounts(total)


def amounts(spend: Spend) -> tuple[int, ...]:
    """All but attempts, which nobody shares, and whether something is estimated."""
    return (
        spend.calls,
        spend.unknown_calls,
        spend.input_tokens,
        spend.output_tokens,
        spend.cache_read_tokens,
        spend.reasoning_tokens,
        spend.cost,
        spend.unknown_cost,
        spend.reserved,
    )


@pytest.mark.parametrize("database", DATABASES)
def test_by_agent_by_model_and_by_run_it_is_the_same_sum(database: str, request: pytest.FixtureRequest) -> None:
    with bench(database, request) as made:

        @made.settings
        @given(DEEDS)
        def check(deeds: Deeds) -> None:
            place = InstanceName(f"n{next(_places)}")
            expected = made.write(perform(deeds, place))
            for by in BYS:
                found = made.read(lambda tx, by=by: cost.look(tx, by, Within(place)))
                assert amounts(found.total) == amounts(expected) == summed(found.lines)
                assert found.total.attempts == expected.attempts

        check()
