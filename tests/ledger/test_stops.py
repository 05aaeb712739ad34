"""Stops: each limit is reached once and leaves one last attempt, until that is made or nobody may make it."""

import pytest

from moot.core.ids import AgentId, AttemptId, HostId, JobId, RunId
from moot.core.tx import Tx
from moot.ledger import stops
from moot.ledger.stops import ALL, Own
from moot.registry import attempts
from moot.registry.attempts import NewAttempt, State
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from tests.interleave import interleave
from tests.registry.house import House, build

RUN = RunId("wf_1")
ANN, BOB = AgentId("ag_ann"), AgentId("ag_bob")


async def may_begin(house: House, agent: AgentId) -> bool:
    found = await house.read(lambda tx: stops.find(tx, RUN))
    assert found is not None
    return found.leaves(agent)


async def is_over(house: House) -> bool:
    found = await house.read(lambda tx: stops.find(tx, RUN))
    assert found is not None
    return found.is_over


def begin(tx: Tx, house: House) -> AttemptId:
    attempt = attempts.start(tx, NewAttempt(ANN, house.stream, JobId("jb_1"), 1, 1, HostId("ho_1"), RUN))
    stops.begin_last(tx, RUN, ALL, by=ANN, attempt=attempt)
    return attempt


async def test_a_limit_is_reached_once(store: Store) -> None:
    house = await build(store)
    assert [await house.write(lambda tx, at=at: stops.reach(tx, RUN, at)) for at in ("time", "hops")] == [True, False]
    found = await house.read(lambda tx: stops.find(tx, RUN))
    assert found is not None
    assert (found.reason, found.last) == ("time", None)
    await house.write(lambda tx: stops.lift(tx, RUN))
    assert await house.read(lambda tx: stops.find(tx, RUN)) is None


async def test_of_two_who_find_a_limit_reached_one_tells_it(pg_store: PostgresStore) -> None:
    await build(pg_store)
    met = await interleave(pg_store, lambda tx: stops.reach(tx, RUN, "time"), lambda tx: stops.reach(tx, RUN, "hops"))
    assert met.second_waited
    assert (met.first, met.second) == (True, False)


async def test_whoever_comes_first_has_the_last_attempt_unless_it_is_somebodys(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: stops.reach(tx, RUN, "time"))
    assert await may_begin(house, ANN)
    assert await may_begin(house, BOB)
    await house.write(lambda tx: stops.lift(tx, RUN))
    await house.write(lambda tx: stops.reach(tx, RUN, "hops", heir=ANN))
    assert await may_begin(house, ANN)
    assert not await may_begin(house, BOB)


@pytest.mark.parametrize(
    ("end", "may_again", "over"),
    [("succeeded", False, True), ("failed", False, True), ("lost", True, False), ("interrupted", True, False)],
)
async def test_only_who_could_not_end_its_last_attempt_makes_it_again(
    store: Store, end: State, *, may_again: bool, over: bool
) -> None:
    house = await build(store)
    await house.write(lambda tx: stops.reach(tx, RUN, "time"))
    attempt = await house.write(lambda tx: begin(tx, house))
    assert not await may_begin(house, ANN)
    assert not await is_over(house)  # if its host is dead, it is still to be made
    await house.write(lambda tx: attempts.end(tx, attempt, end))
    assert (await may_begin(house, ANN), await may_begin(house, BOB), await is_over(house)) == (may_again, False, over)


async def test_a_last_attempt_that_was_put_off_is_still_to_be_made(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: stops.reach(tx, RUN, "time"))
    attempt = await house.write(lambda tx: begin(tx, house))
    await house.write(lambda tx: attempts.end(tx, attempt, "failed"))
    await house.write(lambda tx: stops.put_off(tx, RUN, attempt))
    assert await may_begin(house, ANN)


async def test_when_all_is_over_nobody_makes_a_last_attempt(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: stops.reach(tx, RUN, "time"))
    await house.write(lambda tx: stops.finish(tx, RUN))
    assert await is_over(house)
    assert not await may_begin(house, ANN)


async def test_the_limits_of_agents_are_apart_from_that_of_the_run(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: stops.reach(tx, RUN, "budget: 1 attempt", owner=ANN))
    assert await house.read(lambda tx: stops.find(tx, RUN)) is None
    assert await house.read(lambda tx: stops.of_agents(tx, RUN)) == [Own(ANN, "budget: 1 attempt")]
    await house.write(lambda tx: stops.lift(tx, RUN, BOB))
    assert len(await house.read(lambda tx: stops.of_agents(tx, RUN))) == 1
    await house.write(lambda tx: stops.lift(tx, RUN, ANN))
    assert await house.read(lambda tx: stops.of_agents(tx, RUN)) == []
