"""A run's budget: counted from its start, kept over interruptions, and raised to go on."""

from dataclasses import replace

import pytest

from moot.core.ids import AgentId, HostId, RunId
from moot.ledger import budgets, usage
from moot.ledger.budgets import BudgetUsedUp, Guards, Limits, Share
from moot.ledger.usage import Usage
from moot.registry import runs
from moot.registry.runs import NewRun
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.registry.house import House, build

RUN = RunId("wf_1")
ANN, BOB = AgentId("ag_ann"), AgentId("ag_bob")
NO_LIMITS = Limits()
SECOND = 1_000_000


async def opened(store: Store, limits: Limits) -> House:
    house = await build(store)
    await house.write(lambda tx: budgets.open(tx, RUN, limits, Guards(50, 20)))
    return house


async def test_time_counts_while_the_run_is_live(store: Store, clock: ManualClock) -> None:
    house = await opened(store, Limits(time=100 * SECOND))
    clock.advance(40)
    await house.write(lambda tx: budgets.close(tx, RUN))
    clock.advance(1000)
    assert await house.read(lambda tx: budgets.shares(tx, RUN)) == [Share("time", 100 * SECOND, 40 * SECOND)]
    await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {}))
    clock.advance(59)
    assert [one.is_reached for one in await house.read(lambda tx: budgets.shares(tx, RUN))] == [False]
    clock.advance(1)
    assert [one.is_reached for one in await house.read(lambda tx: budgets.shares(tx, RUN))] == [True]


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
        await house.write(lambda tx: usage.begin(tx, RUN, ANN))
    with pytest.raises(BudgetUsedUp) as refused:
        await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {}))
    assert (refused.value.code, refused.value.exit_code) == ("BUDGET_USED_UP", 3)
    assert "moot resume --budget attempts=4" in refused.value.remedy
    found = await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {"attempts": 3}))
    assert found is not None
    assert found.limits == replace(NO_LIMITS, attempts=3, cost=10 * SECOND)


async def test_a_run_that_has_its_last_attempt_left_goes_on_with_nothing_else(store: Store) -> None:
    house = await opened(store, Limits(attempts=1))
    await house.write(lambda tx: usage.begin(tx, RUN, ANN))
    found = await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {}, is_last_left=True))
    assert found is not None
    assert found.attempts == 1


def test_an_agents_own_time_is_what_its_attempts_took() -> None:
    assert budgets.own_shares(Limits(time=2 * SECOND), Usage(busy=SECOND)) == [Share("time", 2 * SECOND, SECOND)]
    assert budgets.own_shares(NO_LIMITS, Usage(attempts=10**9)) == []


def test_how_to_go_on_is_told_for_every_kind() -> None:
    over = [Share("cost", 10 * SECOND, 11 * SECOND), Share("time", 60 * SECOND, 61 * SECOND), Share("tokens", 5, 21)]
    assert budgets.raising(over) == "moot resume --budget cost=20,time=120s,tokens=40"


async def test_a_run_that_had_too_little_left_for_what_came_next_goes_on_with_more_only(store: Store) -> None:
    house = await opened(store, Limits(cost=3_000))
    await house.write(lambda tx: usage.begin(tx, RUN, ANN))
    reached = "budget: $0.003"
    with pytest.raises(BudgetUsedUp, match=r"\$0\.003") as caught:
        await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {}, reached=reached))
    assert caught.value.remedy == "Raise it: moot resume --budget cost=0.006."
    await house.write(lambda tx: budgets.carry_on(tx, RUN, house.stream, {"cost": 6_000}, reached=reached))


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
