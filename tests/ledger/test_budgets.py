"""A run's budget: asked before every attempt, with one last attempt at a limit, and kept over interruptions."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from moot.core.ids import AgentId, HostId, RunId
from moot.core.tx import Tx
from moot.ledger import budgets, usage
from moot.ledger.budgets import BudgetUsedUp, Guards, Limits, Reserved, Share
from moot.ledger.usage import Spent, Usage
from moot.registry import runs
from moot.registry.runs import NewRun
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave
from tests.registry.house import House, build

RUN = RunId("wf_1")
ANN, BOB = AgentId("ag_ann"), AgentId("ag_bob")
NO_LIMITS = Limits()
SECOND = 1_000_000


async def opened(store: Store, limits: Limits) -> House:
    house = await build(store)
    await house.write(lambda tx: budgets.open(tx, RUN, limits, Guards(50, 20)))
    return house


def begin(agent: AgentId) -> Callable[[Tx], Reserved]:
    def change(tx: Tx) -> Reserved:
        reserved = budgets.reserve(tx, RUN)
        if reserved.leave != "none":
            usage.begin(tx, RUN, agent)
        return reserved

    return change


async def used(house: House, spent: Spent) -> None:
    def change(tx: Tx) -> None:
        usage.begin(tx, RUN, ANN)
        usage.record(tx, RUN, ANN, spent)

    await house.write(change)


async def test_at_a_limit_one_last_attempt_begins_and_none_after_it(store: Store) -> None:
    house = await opened(store, Limits(attempts=2))
    found = [await house.write(begin(ANN)) for _ in range(5)]
    assert [one.leave for one in found] == ["free", "free", "last", "none", "none"]
    assert [one.reached for one in found] == [None, None, Share("attempts", 2, 2), None, None]
    assert await house.read(lambda tx: budgets.reached(tx, RUN)) == "budget: 2 attempts"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(cost=500_000), "budget: $0.50"),
        (Limits(tokens=15), "budget: 15 tokens"),
        (Limits(turns=3), "budget: 3 turns"),
        (Limits(attempts=1), "budget: 1 attempt"),
    ],
)
async def test_every_kind_of_use_has_its_limit(store: Store, limits: Limits, reason: str) -> None:
    house = await opened(store, limits)
    assert (await house.write(lambda tx: budgets.reserve(tx, RUN))).leave == "free"
    await used(house, Spent(10, 5, 3, 0.5))
    assert (await house.write(lambda tx: budgets.reserve(tx, RUN))).leave == "last"
    assert await house.read(lambda tx: budgets.reached(tx, RUN)) == reason


async def test_without_limits_everything_may_begin(store: Store) -> None:
    house = await opened(store, NO_LIMITS)
    await used(house, Spent(10**9, 10**9, 10**9, 10**6))
    assert (await house.write(lambda tx: budgets.reserve(tx, RUN))).leave == "free"
    assert (await house.write(lambda tx: budgets.reserve(tx, RunId("wf_unknown")))).leave == "free"


async def test_of_two_hosts_one_begins_the_last_attempt(pg_store: PostgresStore) -> None:
    house = await opened(pg_store, Limits(attempts=1))
    met = await interleave(pg_store, begin(ANN), begin(BOB))
    assert met.second_waited
    assert (met.first.leave, met.second.leave) == ("free", "last")
    met = await interleave(pg_store, begin(ANN), begin(BOB))
    assert (met.first.leave, met.second.leave) == ("none", "none")
    assert (await house.read(lambda tx: usage.total(tx, RUN))).attempts == 2


async def test_a_limit_of_another_kind_is_reached_once(store: Store) -> None:
    house = await opened(store, NO_LIMITS)
    stops = [
        await house.write(lambda tx, at=at: budgets.stop(tx, RUN, at, is_last_allowed=True)) for at in ("time", "hops")
    ]
    assert stops == [True, False]
    assert await house.read(lambda tx: budgets.reached(tx, RUN)) == "time"
    assert [(await house.write(begin(ANN))).leave for _ in range(2)] == ["last", "none"]


async def test_time_counts_while_the_run_is_live(store: Store, clock: ManualClock) -> None:
    house = await opened(store, Limits(time=100 * SECOND))
    clock.advance(40)
    await house.write(lambda tx: budgets.close(tx, RUN))
    clock.advance(1000)
    assert await house.read(lambda tx: budgets.shares(tx, RUN)) == [Share("time", 100 * SECOND, 40 * SECOND)]
    await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {}))
    clock.advance(59)
    assert await house.read(lambda tx: budgets.verdict(tx, RUN)) is None
    clock.advance(1)
    assert await house.read(lambda tx: budgets.verdict(tx, RUN)) == Share("time", 100 * SECOND, 100 * SECOND)


async def test_a_run_that_was_killed_was_live_until_something_last_happened(store: Store, clock: ManualClock) -> None:
    house = await opened(store, Limits(time=100 * SECOND))
    clock.advance(30)
    await house.post("the last sign of life")
    clock.advance(1000)
    await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {}))
    assert await house.read(lambda tx: budgets.shares(tx, RUN)) == [Share("time", 100 * SECOND, 30 * SECOND)]


async def test_a_run_goes_on_only_with_more_than_it_has_used(store: Store) -> None:
    house = await opened(store, Limits(attempts=1, cost=10 * SECOND))
    for _ in range(2):
        await house.write(begin(ANN))
    with pytest.raises(BudgetUsedUp) as refused:
        await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {}))
    assert (refused.value.code, refused.value.exit_code) == ("BUDGET_USED_UP", 3)
    assert "moot resume --budget attempts=4" in refused.value.remedy
    assert await house.read(lambda tx: budgets.reached(tx, RUN)) == "budget: 1 attempt"
    found = await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {"attempts": 3}))
    assert found is not None
    assert found.limits == replace(NO_LIMITS, attempts=3, cost=10 * SECOND)
    assert [(await house.write(begin(ANN))).leave for _ in range(3)] == ["free", "last", "none"]


def test_an_agents_own_time_is_what_its_attempts_took() -> None:
    assert budgets.own_verdict(Limits(time=2 * SECOND), Usage(busy=SECOND)) is None
    assert budgets.own_verdict(Limits(time=2 * SECOND), Usage(busy=2 * SECOND)) == Share("time", 2 * SECOND, 2 * SECOND)
    assert budgets.own_verdict(NO_LIMITS, Usage(attempts=10**9)) is None


def test_how_to_go_on_is_told_for_every_kind() -> None:
    over = [Share("cost", 10 * SECOND, 11 * SECOND), Share("time", 60 * SECOND, 61 * SECOND), Share("tokens", 5, 21)]
    assert budgets.raising(over) == "moot resume --budget cost=20,time=120s,tokens=40"


async def test_the_guards_are_those_of_the_live_run(store: Store) -> None:
    house = await build(store)
    name = house.instance.name
    assert await house.read(lambda tx: runs.live_id(tx, name)) is None
    new = NewRun("review", "review.yaml", "run", {}, {}, HostId("ho_1"))
    run = await house.write(lambda tx: runs.start(tx, house.instance, new))
    await house.write(lambda tx: budgets.open(tx, run.id, NO_LIMITS, Guards(None, 4)))
    assert await house.read(lambda tx: runs.live_id(tx, name)) == run.id
    assert await house.read(lambda tx: budgets.guards(tx, run.id)) == Guards(None, 4)
    await house.write(lambda tx: runs.end(tx, run, "done"))
    assert await house.read(lambda tx: runs.live_id(tx, name)) is None
