"""Attempts have one end, and what they write after it is refused."""

from dataclasses import replace

import pytest

from moot.core.caller import Caller
from moot.core.ids import AttemptId, HostId, InstanceName, JobId
from moot.core.tx import Tx
from moot.registry import attempts
from moot.registry.agents import Agent
from moot.registry.attempts import Attempt, NewAttempt
from moot.registry.errors import AttemptEnded
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave
from tests.registry.house import build


def caller_of(agent: Agent, attempt: AttemptId, fence: int = 1) -> Caller:
    return Caller(agent.name, "member", InstanceName("default"), agent.id, attempt=attempt, fence=fence)


async def test_an_attempt_runs_until_it_ends_once(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann")
    new = NewAttempt(ann.id, ann.stream, JobId("jb_1"), 3, 2, HostId("ho_1"))
    id = await house.write(lambda tx: attempts.start(tx, new))
    started = clock.now()
    running = Attempt(id, ann.id, JobId("jb_1"), 3, 2, HostId("ho_1"), "running", None, started, None)
    assert await house.read(lambda tx: attempts.running(tx, ann.id)) == running
    clock.advance(5)
    assert await house.write(lambda tx: attempts.end(tx, id, "failed", "it broke"))
    assert not await house.write(lambda tx: attempts.end(tx, id, "succeeded"))
    assert await house.read(lambda tx: attempts.running(tx, ann.id)) is None
    ended = replace(running, state="failed", error="it broke", ended_at=clock.now())
    assert await house.read(lambda tx: attempts.of_job(tx, JobId("jb_1"))) == [ended]
    assert [(event.kind, event.data) for event in await house.events()][1:] == [
        ("attempt_started", {"agent": ann.id, "number": 2})
    ]


async def test_the_attempts_at_one_delivery_are_listed_by_fence(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    made = [await house.start(ann, fence=fence) for fence in (1, 2, 3)]
    await house.start(ann, job="jb_2")
    assert [one.id for one in await house.read(lambda tx: attempts.of_job(tx, JobId("jb_1")))] == made


async def test_a_running_attempt_may_write(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    attempt = await house.start(ann)
    await house.write(lambda tx: attempts.guard(tx, caller_of(ann, attempt)))


async def test_who_is_in_no_attempt_needs_no_guard(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: attempts.guard(tx, Caller("human", "operator", InstanceName("default"))))


async def test_an_ended_attempt_may_not_write(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    attempt = await house.start(ann)
    await house.write(lambda tx: attempts.end(tx, attempt, "lost"))
    for ask in (attempts.guard, attempts.asked):
        with pytest.raises(AttemptEnded) as refused:
            await house.write(lambda tx, ask=ask: ask(tx, caller_of(ann, attempt)))
        assert refused.value.code == "ATTEMPT_ENDED"


async def test_a_stale_fence_is_refused(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    attempt = await house.start(ann, fence=7)
    for fence in (0, 6, 8):
        caller = caller_of(ann, attempt, fence)
        for ask in (attempts.guard, attempts.asked):
            with pytest.raises(AttemptEnded):
                await house.write(lambda tx, ask=ask, caller=caller: ask(tx, caller))


async def test_an_attempt_that_never_was_is_refused(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    with pytest.raises(AttemptEnded):
        await house.write(lambda tx: attempts.guard(tx, caller_of(ann, AttemptId("at_unknown"))))


async def test_a_write_waits_for_the_end_of_its_attempt_and_is_refused(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    attempt = await house.start(ann)
    with pytest.raises(AttemptEnded):
        await interleave(
            pg_store,
            lambda tx: attempts.end(tx, attempt, "lost"),
            lambda tx: attempts.guard(tx, caller_of(ann, attempt)),
        )


async def test_the_end_of_an_attempt_waits_for_its_last_write(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    attempt = await house.start(ann)
    met = await interleave(
        pg_store,
        lambda tx: attempts.guard(tx, caller_of(ann, attempt)),
        lambda tx: attempts.end(tx, attempt, "lost"),
    )
    assert met.second_waited
    assert met.second


async def test_one_of_two_who_end_an_attempt_at_once_has_ended_it(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    attempt = await house.start(ann)

    def end(tx: Tx) -> bool:
        return attempts.end(tx, attempt, "lost")

    met = await interleave(pg_store, end, end)
    assert (met.first, met.second) == (True, False)
