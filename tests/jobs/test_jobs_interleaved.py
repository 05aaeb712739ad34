"""Two transactions that meet over jobs: each job once, and no wake-up is lost."""

import pytest

from moot.bus import mailbox, messages
from moot.bus.messages import Draft, Recipient
from moot.core.caller import SYSTEM
from moot.core.ids import HostId, StreamId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job, JobLost, NewJob
from moot.runner import react
from moot.store.postgres import PostgresStore
from moot.testing.clock import ManualClock
from tests.interleave import interleave
from tests.registry.house import build

STREAM = StreamId("in_1")
HERE, THERE = HostId("ho_1"), HostId("ho_2")
JOB = NewJob("k1", "check", STREAM, "subject")


def take(tx: Tx, host: HostId, others: int = 10) -> list[Job]:
    return jobs.take(tx, Appetite(host, 10, others))


async def taken(store: PostgresStore) -> Job:
    def change(tx: Tx) -> Job:
        jobs.add(tx, JOB)
        return take(tx, HERE)[0]

    return await store.write(change, caller=SYSTEM)


async def waiting(store: PostgresStore) -> list[str]:
    return [f"{job.state} {job.key}" for job in await store.read(lambda tx: jobs.live(tx, STREAM))]


async def test_what_is_asked_for_while_the_job_ends_is_done(pg_store: PostgresStore) -> None:
    """The lost wake-up, seen from the end: it is committed while the new request waits."""
    job = await taken(pg_store)
    met = await interleave(pg_store, lambda tx: jobs.finish(tx, job), lambda tx: jobs.add(tx, JOB))
    assert met.second_waited
    assert await waiting(pg_store) == ["queued k1"]


async def test_a_job_that_ends_while_it_is_asked_for_is_followed(pg_store: PostgresStore) -> None:
    """The lost wake-up, seen from the request: it is committed while the end waits."""
    job = await taken(pg_store)
    met = await interleave(pg_store, lambda tx: jobs.add(tx, JOB), lambda tx: jobs.finish(tx, job))
    assert met.second_waited
    assert await waiting(pg_store) == ["queued k1"]


async def test_two_who_ask_for_the_same_at_once_get_one_job(pg_store: PostgresStore) -> None:
    met = await interleave(pg_store, lambda tx: jobs.add(tx, JOB), lambda tx: jobs.add(tx, JOB))
    assert met.second_waited
    assert await waiting(pg_store) == ["queued k1"]


@pytest.mark.parametrize("others", [2, 10])
async def test_two_hosts_take_each_job_once_and_do_not_wait(pg_store: PostgresStore, others: int) -> None:
    for key in ("k1", "k2", "k3"):
        await pg_store.write(lambda tx, key=key: jobs.add(tx, NewJob(key, "check", STREAM, "s")), caller=SYSTEM)
    met = await interleave(pg_store, lambda tx: take(tx, HERE, others), lambda tx: take(tx, THERE, others))
    assert not met.second_waited
    assert len(met.first) == min(others, 3)
    assert sorted(job.key for job in met.first + met.second) == ["k1", "k2", "k3"]


async def test_a_lost_job_is_lost_once(pg_store: PostgresStore, clock: ManualClock) -> None:
    await taken(pg_store)
    clock.advance(30)
    met = await interleave(pg_store, jobs.lost, jobs.lost)
    assert met.second_waited
    assert (len(met.first), met.second) == (1, [])


async def test_an_owner_that_finishes_while_its_job_is_taken_away_is_refused(
    pg_store: PostgresStore, clock: ManualClock
) -> None:
    job = await taken(pg_store)
    clock.advance(30)
    with pytest.raises(JobLost):
        await interleave(pg_store, jobs.lost, lambda tx: jobs.finish(tx, job))
    assert await waiting(pg_store) == ["queued k1"]


async def test_a_job_that_is_finished_at_the_last_moment_is_not_lost(
    pg_store: PostgresStore, clock: ManualClock
) -> None:
    job = await taken(pg_store)
    clock.advance(30)
    met = await interleave(pg_store, lambda tx: jobs.finish(tx, job), jobs.lost)
    assert met.second_waited
    assert met.second == []


async def test_a_lease_that_is_renewed_at_the_last_moment_is_not_lost(
    pg_store: PostgresStore, clock: ManualClock
) -> None:
    job = await taken(pg_store)
    clock.advance(30)
    met = await interleave(pg_store, lambda tx: jobs.renew(tx, HERE, [job.id]), jobs.lost)
    assert met.second_waited
    assert (met.first, met.second) == ([job.id], [])


async def test_a_lease_that_was_taken_away_cannot_be_renewed(pg_store: PostgresStore, clock: ManualClock) -> None:
    job = await taken(pg_store)
    clock.advance(30)
    met = await interleave(pg_store, jobs.lost, lambda tx: jobs.renew(tx, HERE, [job.id]))
    assert ([one.id for one in met.first], met.second) == ([job.id], [])


async def test_two_hosts_react_to_each_event_once(pg_store: PostgresStore) -> None:
    """The first takes the job at once, as a host does; a second reaction would have it done once more."""
    house = await build(pg_store)
    ann = await house.join("ann", backend="scripted")
    await house.post("wake up", ann)

    def turn(tx: Tx) -> list[Job]:
        react.react(tx)
        return take(tx, HERE)

    met = await interleave(pg_store, turn, react.react)
    assert met.second_waited
    (job,) = met.first
    assert job.key == f"attempt:{ann.id}"
    assert not await house.read(react.has_news)
    await house.write(lambda tx: jobs.finish(tx, job))
    assert await house.read(lambda tx: jobs.live(tx, house.stream)) == []


@pytest.mark.parametrize("first", ["reaction", "end"])
async def test_mail_that_comes_while_an_attempt_ends_wakes_the_agent_again(pg_store: PostgresStore, first: str) -> None:
    """The reaction to the mail meets the end of the attempt that was not given it."""
    house = await build(pg_store)
    ann = await house.join("ann", backend="scripted")
    await house.post("first", ann)
    await house.write(react.react)

    def begin(tx: Tx) -> Job:
        (job,) = take(tx, HERE)
        mailbox.hand_out(tx, ann.id, attempt, 50)
        return job

    attempt = await house.start(ann)
    job = await house.write(begin)
    draft = Draft(house.stream, "human", "second")
    await house.write(lambda tx: messages.post(tx, draft, [Recipient(ann.id, ann.name)]))

    def end(tx: Tx) -> None:
        jobs.finish(tx, job)
        mailbox.ack_attempt(tx, ann.id, attempt)

    order = (react.react, end) if first == "reaction" else (end, react.react)
    met = await interleave(pg_store, *order)
    assert met.second_waited
    (again,) = await house.read(lambda tx: jobs.live(tx, house.stream))
    assert (again.state, again.key) == ("queued", job.key)
    assert again.id != job.id
    assert await house.unread(ann) == ["queued second"]
