"""Journals in the store: the next attempt knows all that is on record, nothing is paid twice, and budgets hold."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

import pytest

from moot.backends.backend import Briefing, Counted, Ended, Progress, Usage
from moot.core.caller import SYSTEM, Caller
from moot.core.tx import Tx
from moot.ledger import journal as ledger
from moot.ledger import pauses, traces, usage
from moot.ledger.traces import Step
from moot.models import model
from moot.registry import agents, instances, stopping
from moot.registry.errors import AttemptEnded
from moot.runner import phases
from moot.runner.journals import Kept, StoredJournal
from moot.session.journal import Done, Intent, OverBudget, Recalled
from moot.session.stage import Asked
from moot.store.store import Store
from moot.workflow.workflow import Budget
from tests.runner.team import Team, gather, make_host, running
from tests.runner.test_limits import PLAIN, play

BRIEFING = Briefing("Do it.", "You are ann.")
SESSION = Intent("", "session", "ann", "ann", "root")
USED = model.Usage(10, 5, 3, 2, 0.25, reasoning_tokens=1)
Act = Callable[[StoredJournal], Awaitable[Ended]]


def asking(path: str, reserve: float = 0.0) -> Intent:
    return Intent(path, "model", "m", "ann", reserve=reserve)


class Acts:
    """An agent that does one thing after the other, an attempt each."""

    def __init__(self, *acts: Act) -> None:
        self.acts = list(acts)

    async def run(self, assignment: Kept) -> AsyncGenerator[Progress]:
        journal = await assignment.journal()
        yield await self.acts.pop(0)(journal)


async def perform(store: Store, *acts: Act) -> Team:
    team, backend = await gather(store, {"ann": []}), Acts(*acts)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        await team.say("@ann go")
        await team.until(lambda tx: not backend.acts)
        await team.idle_but_for_mail()
    return team


async def entries(store: Store, root: str) -> list[Step]:
    return await store.read(lambda tx: traces.steps(tx, root))


async def test_the_next_attempt_knows_what_is_on_record(store: Store) -> None:
    roots: list[str] = []

    async def first(journal: StoredJournal) -> Ended:
        assert journal.briefing is None
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, replace(asking("t1/m"), facts={"last": "x"})])
        await journal.note([Done("t1/m", {"a": 1}, USED)], [Intent("t1/c1", "tool", "look", "ann")])
        roots.append(journal.root)
        return Ended("unavailable", "gone")

    async def second(journal: StoredJournal) -> Ended:
        roots.append(journal.root)
        assert journal.briefing == BRIEFING
        found = {path: journal.known(path) for path in ("", "t1/m", "t1/c1", "t2/m")}
        states = {path: one and (one.state, one.tries) for path, one in found.items()}
        assert states == {"": ("unknown", 1), "t1/m": ("done", 1), "t1/c1": ("unknown", 1), "t2/m": None}
        assert found["t1/m"] is not None
        assert (found["t1/m"].facts, found["t1/m"].result) == ({"last": "x"}, {"a": 1})
        await journal.note([Done("t1/c1", {"text": "", "is_error": False}), Done("", "end")])
        return Ended()

    await perform(store, first, second)
    assert roots[0] == roots[1]
    assert {(one.path, one.state) for one in await entries(store, roots[0])} == {
        ("", "done"),
        ("t1/m", "done"),
        ("t1/c1", "done"),
    }


@pytest.mark.parametrize("failure", ["limit", "invalid", "reported", "refused", "stopped"])
async def test_what_would_only_fail_again_is_begun_anew(store: Store, failure: str) -> None:
    roots: list[str] = []

    async def act(journal: StoredJournal) -> Ended:
        roots.append(journal.root)
        assert (journal.briefing, journal.known("t1/m")) == (None, None)
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, asking("t1/m")])
        await journal.end(failure)  # pyright: ignore[reportArgumentType]
        return Ended("error", "again")

    await perform(store, act, act, act)
    assert roots == [roots[0], f"{roots[0]}#2", f"{roots[0]}#3"]


async def test_what_is_used_is_counted_once_with_its_record(store: Store) -> None:
    class Counting(Acts):
        async def run(self, assignment: Kept) -> AsyncGenerator[Progress]:
            journal = await assignment.journal()
            journal.begin(BRIEFING)
            await journal.note(begun=[SESSION, asking("t1/m", 0.5)])
            await journal.note([Done("t1/m", "x", USED)], [asking("t2/m")])
            yield Counted(10, 5, 1, 0.25)
            await journal.note([Done("t2/m", error="no")])
            yield Ended(usage=Usage(10, 5, 1, 0.25))

    team = await gather(store, {"ann": []})
    async with running(make_host(store, backend=Counting())):  # pyright: ignore[reportArgumentType]
        await team.say("@ann go")
        await team.idle()
    found = await store.read(lambda tx: usage.total(tx, team.instance.stream))
    assert (found.input_tokens, found.output_tokens, found.turns, found.cost) == (10, 5, 1, 250_000)


async def test_who_has_lost_its_attempt_writes_nothing(store: Store) -> None:
    old: list[StoredJournal] = []

    async def first(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, asking("t1/m")])
        old.append(journal)
        return Ended("unavailable", "gone")

    async def second(journal: StoredJournal) -> Ended:
        with pytest.raises(AttemptEnded):
            await old[0].note([Done("t1/m", "late", USED)], [asking("t2/m")])
        return Ended()

    team = await perform(store, first, second)
    assert [one.state for one in await entries(store, old[0].root)] == ["unknown", "unknown"]
    assert (await store.read(lambda tx: usage.total(tx, team.instance.stream))).turns == 0


async def test_what_was_cut_off_is_charged_and_given_back_while_the_tree_goes_on(store: Store) -> None:
    roots: list[str] = []

    async def act(journal: StoredJournal) -> Ended:
        roots.append(journal.root)
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, Intent("a/x", "session", "x", "x"), asking("a/x/t1/m", 0.6)])
        assert journal.open_below("a") == ["a/x", "a/x/t1/m"]
        await journal.note([Done(one, is_lost=True) for one in journal.open_below("a")])
        assert journal.open_below("a") == []
        await journal.note(begun=[asking("t1/m", 0.3)])  # it would not fit if both were set aside
        await journal.note([Done("t1/m", "x", USED)])
        return Ended()

    found, backend = await play(store, {"ann": []}, own=replace(PLAIN, budget=Budget(cost=1.0))), Acts(act)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        await found.team.idle()
    kept = {str(one.path): one for one in await entries(store, roots[0])}
    assert (kept["a/x/t1/m"].state, kept["a/x/t1/m"].cost, kept["a/x/t1/m"].is_estimated) == ("unknown", 600_000, True)
    used = await store.read(lambda tx: usage.total(tx, found.run.id))
    assert (used.cost, used.turns, used.is_estimated) == (850_000, 1, True)


@pytest.mark.parametrize("is_retried", [True, False])
async def test_who_asks_again_in_a_moment_lets_nobody_else_wait(store: Store, is_retried: bool) -> None:
    limited = Done("t1/m", stop="rate_limit", error="slowly", is_retried=is_retried)

    async def act(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, replace(asking("t1/m"), provider="lab")])
        await journal.note([limited])
        return Ended()

    await perform(store, act)
    paused = await store.read(lambda tx: pauses.of_provider(tx, "lab"))
    assert (paused is None) is is_retried


async def test_where_another_model_may_cost_less_no_limit_is_reached(store: Store) -> None:
    async def act(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        refused = await refusal(journal, replace(asking("t1/m", 2.0), is_replaceable=True))
        assert refused[1:] == (0.0, False)
        await journal.note(begun=[SESSION, asking("t1/m", 0.5)])
        await journal.note([Done("t1/m", "x", USED)])
        return Ended()

    found, backend = await play(store, {"ann": []}, Budget(cost=1.0)), Acts(act)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        await found.team.idle()
    assert not [one for one in await found.team.bodies() if "has reached" in one]


async def test_who_waits_for_what_is_set_aside_is_woken_when_an_answer_is_there(store: Store) -> None:
    async def act(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, asking("t1/m"), Intent("t1/c1", "tool", "look", "ann")])
        with journal.given_back() as signal:
            await journal.note([Done("t1/c1", {"text": "", "is_error": False})])
            assert not await signal.wait(0)
            await journal.note([Done("t1/m", "x", USED)])
            assert await signal.wait(0)
        return Ended()

    await perform(store, act)


async def test_an_agent_sets_aside_no_more_than_is_left_of_its_own(store: Store) -> None:
    roots: list[str] = []

    async def act(journal: StoredJournal) -> Ended:
        roots.append(journal.root)
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, asking("t1/m", 0.6)])
        with pytest.raises(OverBudget, match=r"\$0\.4000 is left, and the next answer may cost \$0\.6000"):
            await journal.note(begun=[Intent("c", "session", "cy", "cy"), asking("c/t1/m", 0.6)])
        assert journal.known("c") is not None
        assert journal.known("c/t1/m") is None
        await journal.note([Done("t1/m", "x", USED)], [asking("t2/m", 0.75)])  # 0.25 of 0.6 were needed
        with pytest.raises(OverBudget):
            await journal.note([Done("t2/m", "y", replace(USED, cost=0.9))], [asking("t3/m")])
        return Ended()

    found, backend = await play(store, {"ann": []}, own=replace(PLAIN, budget=Budget(cost=1.0))), Acts(act)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        await found.team.idle()
    states = {one.path: one.state for one in await entries(store, roots[0])}
    assert states == {"": "unknown", "c": "unknown", "t1/m": "done", "t2/m": "done"}


async def refusal(journal: StoredJournal, begun: Intent) -> tuple[str, float, bool]:
    with pytest.raises(OverBudget) as caught:
        await journal.note(begun=[begun])
    return caught.value.fact, caught.value.left, caught.value.is_passing


async def test_a_run_sets_aside_no_more_than_it_has_and_comes_to_its_end(store: Store) -> None:
    refused: list[tuple[str, float, bool]] = []

    async def act(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, asking("t1/m", 0.6)])
        refused.append(await refusal(journal, asking("t2/m", 0.6)))
        await journal.note([Done("t1/m", "x", replace(USED, cost=0.5))])
        refused.append(await refusal(journal, replace(asking("t2/m", 0.8), least=0.1)))
        refused.append(await refusal(journal, asking("t2/m", 0.6)))
        return Ended()

    found, backend = await play(store, {"ann": []}, Budget(cost=1.0)), Acts(act)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        assert await found.until_limit() == "budget: $1.00"
    assert refused == [
        ("stopped at the budget: $1.00 ($0.4000 is left, and the next answer may cost $0.6000)", 0.0, True),
        ("stopped at the budget: $1.00 ($0.5000 is left, and the next answer may cost $0.1000)", 0.5, False),
        ("stopped at the budget: $1.00 ($0.5000 is left, and the next answer may cost $0.6000)", 0.0, False),
    ]


@pytest.mark.parametrize("budget", [Budget(turns=2), Budget(tokens=150)], ids=["turns", "tokens"])
async def test_who_would_go_beyond_turns_or_tokens_waits_for_those_who_are_being_answered(
    store: Store, budget: Budget
) -> None:
    refused: list[tuple[str, float, bool]] = []

    async def act(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        one, two, three = (replace(asking(path), tokens=60) for path in ("a/t1/m", "b/t1/m", "c/t1/m"))
        await journal.note(begun=[SESSION, one])
        await journal.note(begun=[two])
        refused.append(await refusal(journal, three))
        await journal.note([Done("a/t1/m", "x", USED)])
        await journal.note([Done("b/t1/m", "x", model.Usage(100, 100))])
        refused.append(await refusal(journal, three))
        return Ended()

    found, backend = await play(store, {"ann": []}, budget), Acts(act)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        limit = await found.until_limit()
    assert refused == [("others are being answered", 0.0, True), (f"stopped at the {limit}", 0.0, False)]


async def test_new_mail_is_known_from_what_was_told(store: Store) -> None:
    inboxes: list[list[str]] = []
    team: list[Team] = []

    async def first(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        inboxes.append([one.body for one in journal.untold()])
        await team[0].say("@ann heard")
        (_, heard, *_) = await team[0].channel()
        facts = {"heard": {"text": "…", "mail": [heard.id]}}
        await journal.note(begun=[SESSION, replace(asking("t1/m"), facts=facts)])
        await team[0].say("@ann new")
        return Ended("unavailable", "gone")

    async def second(journal: StoredJournal) -> Ended:
        new = journal.untold()
        inboxes.append([one.body for one in new])
        assert [journal.was_told(one.id) for one in (await team[0].channel())[:3]] == [True, True, False]
        await journal.give_back(new)
        return Ended()

    async def third(journal: StoredJournal) -> Ended:
        assert journal.briefing is None  # all of the other is acknowledged: this is another matter
        inboxes.append([one.body for one in journal.untold()])
        return Ended()

    team.append(await gather(store, {"ann": []}))
    backend = Acts(first, second, third)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        await team[0].say("@ann go")
        await team[0].until(lambda tx: not backend.acts)
        await team[0].idle()
    assert inboxes == [[], ["@ann new"], ["@ann new"]]


async def test_who_is_cancelled_while_it_writes_knows_what_is_on_record(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, is_cancelled = store.write, asyncio.Event()

    async def later(change: Callable[[Tx], object], /, *, caller: Caller) -> object:
        await is_cancelled.wait()
        return await write(change, caller=caller)

    async def act(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        monkeypatch.setattr(store, "write", later)
        writing = asyncio.ensure_future(journal.note(begun=[SESSION]))
        await asyncio.sleep(0)
        writing.cancel()
        is_cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert journal.known("") is not None
        await journal.note([Done("", "end")])
        return Ended()

    team = await perform(store, act)
    ann = await store.read(lambda tx: agents.named(tx, team.instance.stream, "ann"))
    tree = await store.read(lambda tx: ledger.last_tree(tx, ann.id))
    assert tree is not None
    assert [one.state for one in await entries(store, tree.root)] == ["done"]


async def test_who_is_stopped_learns_it_before_its_next_request(store: Store) -> None:
    heard: list[Asked | None] = []

    def stop(tx: Tx) -> bool:
        (ann,) = (one for one in agents.members(tx, instances.get(tx, "default").stream) if one.name == "ann")
        return stopping.stop(tx, ann)

    async def work(journal: StoredJournal) -> Ended:
        journal.begin(BRIEFING)
        await journal.note(begun=[SESSION, asking("t1/m")])
        heard.append(await journal.asked())
        await store.write(stop, caller=SYSTEM)
        with pytest.raises(Recalled):
            await journal.note([Done("t1/m", {"a": 1}, USED)], [asking("t2/m")])
        heard.append(await journal.asked())
        done, begun = journal.known("t1/m"), journal.known("t2/m")
        assert (done and done.state, begun) == ("done", None)
        await journal.note(begun=[replace(asking("t2/m"), is_last=True)])
        return Ended()

    await perform(store, work)
    assert heard == [None, "stop"]


@pytest.mark.parametrize(("is_stopped", "wanted"), [(False, "shutdown"), (True, "stop")])
async def test_who_knows_that_it_is_stopped_has_its_last_turn_though_the_run_is_left_then(
    store: Store, is_stopped: bool, wanted: Asked
) -> None:
    heard, begun = list[Asked | None](), list[bool]()
    found = await play(store, {"ann": []})
    run, stream = found.run, found.team.instance.stream

    async def work(journal: StoredJournal) -> Ended:
        if is_stopped:
            await store.write(lambda tx: stopping.stop(tx, agents.named(tx, stream, "ann")), caller=SYSTEM)
        else:
            await store.write(lambda tx: phases.close(tx, run.id, "interrupted", "left"), caller=SYSTEM)
        journal.begin(BRIEFING)
        with pytest.raises(Recalled):
            await journal.note(begun=[SESSION, asking("t1/m")])
        heard.append(await journal.asked())
        if is_stopped:
            await store.write(lambda tx: phases.close(tx, run.id, "interrupted", "left"), caller=SYSTEM)
            await journal.note(begun=[replace(asking("t1/m"), is_last=True)])
        begun.append(journal.known("t1/m") is not None)
        return Ended()

    backend = Acts(work)
    async with running(make_host(store, backend=backend)):  # pyright: ignore[reportArgumentType]
        await found.team.until(lambda tx: not backend.acts)
        await found.team.idle_but_for_mail()
    assert (heard, begun) == ([wanted], [is_stopped])


@pytest.mark.parametrize(("is_stopped", "wanted"), [(False, "shutdown"), (True, "stop")])
async def test_when_its_host_ends_it_leaves_off_unless_it_was_stopped(
    store: Store, is_stopped: bool, wanted: Asked
) -> None:
    heard: list[Asked | None] = []
    team = await gather(store, {"ann": []})

    async def work(journal: StoredJournal) -> Ended:
        heard.append(await journal.asked())
        if is_stopped:
            await store.write(
                lambda tx: stopping.stop(tx, agents.named(tx, team.instance.stream, "ann")), caller=SYSTEM
            )
        host.stop()
        heard.append(await journal.asked())
        return Ended()

    backend = Acts(work)
    host = make_host(store, backend=backend)  # pyright: ignore[reportArgumentType]
    async with running(host):
        await team.say("@ann go")
        await team.until(lambda tx: not backend.acts)
        await team.idle_but_for_mail()
    assert heard == [None, wanted]
