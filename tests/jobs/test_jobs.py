"""A job has one owner at a time and is done once for each time it was asked for, whoever dies."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Literal

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import HostId, JobId, StreamId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job, JobLost, NewJob
from moot.store.store import Store
from moot.testing.clock import ManualClock

STREAM = StreamId("in_1")
HERE, THERE = HostId("ho_1"), HostId("ho_2")
JOB = NewJob("k1", "check", STREAM, "subject", {"a": 1})
ATTEMPT = NewJob("attempt:ann", "attempt", STREAM, "ann")


async def add(store: Store, *new: NewJob) -> None:
    for one in new:
        await store.write(lambda tx, one=one: jobs.add(tx, one), caller=SYSTEM)


async def take(store: Store, host: HostId = HERE, *, attempts: int = 10, others: int = 10) -> list[Job]:
    return await store.write(lambda tx: jobs.take(tx, Appetite(host, attempts, others)), caller=SYSTEM)


async def take_one(store: Store, host: HostId = HERE) -> Job:
    (job,) = await take(store, host)
    return job


async def finish(store: Store, job: Job) -> None:
    await store.write(lambda tx: jobs.finish(tx, job), caller=SYSTEM)


async def lost(store: Store) -> list[Job]:
    return await store.write(jobs.lost, caller=SYSTEM)


async def live(store: Store) -> list[Job]:
    return await store.read(lambda tx: jobs.live(tx, STREAM))


async def keys(store: Store) -> list[str]:
    return [f"{job.state} {job.key}" for job in await live(store)]


async def test_a_job_is_queued_then_run_then_done(store: Store, clock: ManualClock) -> None:
    await add(store, JOB)
    (queued,) = await live(store)
    assert queued == Job(
        id=queued.id,
        key="k1",
        kind="check",
        stream=STREAM,
        subject="subject",
        arguments={"a": 1},
        state="queued",
        run_at=clock.now(),
        deadline=None,
        owner=None,
        fence=0,
        tries=0,
        losses=0,
        on_loss="repeat",
        error=None,
        created_at=clock.now(),
    )
    job = await take_one(store)
    assert job == replace(queued, state="running", owner=HERE, fence=1)
    assert await take(store, THERE) == []
    await finish(store, job)
    assert await live(store) == []
    done = await store.read(lambda tx: jobs.get(tx, job.id))
    assert done is not None
    assert done.state == "done"


async def test_an_unknown_job_is_nothing(store: Store) -> None:
    assert await store.read(lambda tx: jobs.get(tx, JobId("jb_unknown"))) is None


async def test_a_key_is_live_once(store: Store) -> None:
    await add(store, JOB, JOB, replace(JOB, key="k2"))
    assert sorted(await keys(store)) == ["queued k1", "queued k2"]
    for job in await take(store):
        await finish(store, job)
    await add(store, JOB)
    assert await keys(store) == ["queued k1"]


async def test_adding_while_it_waits_changes_nothing(store: Store, clock: ManualClock) -> None:
    later = clock.now() + timedelta(minutes=1)
    await add(store, replace(JOB, run_at=later), replace(JOB, subject="other"))
    (job,) = await live(store)
    assert (job.subject, job.run_at) == ("subject", later)
    clock.advance(60)
    await finish(store, await take_one(store))
    assert await live(store) == []


async def test_adding_while_it_runs_makes_exactly_one_more_follow(store: Store) -> None:
    await add(store, JOB)
    first = await take_one(store)
    await add(store, JOB, JOB, JOB)
    assert await keys(store) == ["running k1"]
    await finish(store, first)
    second = await take_one(store)
    assert second.id != first.id
    assert (second.key, second.kind, second.subject, second.arguments, second.tries) == (
        "k1", "check", "subject", {"a": 1}, 0,
    )  # fmt: skip
    await finish(store, second)
    assert await live(store) == []


async def test_a_timer_added_while_it_runs_follows_at_its_time(store: Store, clock: ManualClock) -> None:
    await add(store, JOB)
    first = await take_one(store)
    earlier, later = clock.now() + timedelta(seconds=60), clock.now() + timedelta(seconds=90)
    await add(store, replace(JOB, run_at=later), replace(JOB, run_at=earlier), replace(JOB, run_at=later))
    await finish(store, first)
    assert await take(store) == []
    clock.advance(60)
    second = await take_one(store)
    assert second.run_at == earlier
    await finish(store, second)
    assert await live(store) == []


async def test_a_job_that_was_given_up_is_followed_too(store: Store) -> None:
    await add(store, JOB)
    job = await take_one(store)
    await add(store, JOB)
    await store.write(lambda tx: jobs.fail(tx, job, "no"), caller=SYSTEM)
    given_up = await store.read(lambda tx: jobs.get(tx, job.id))
    assert given_up is not None
    assert (given_up.state, given_up.error) == ("failed", "no")
    assert (await take_one(store)).id != job.id


async def is_due(store: Store, *, attempts: bool = True, others: bool = True) -> bool:
    def look(tx: ReadTx) -> bool:
        at = jobs.next_at(tx, attempts=attempts, others=others)
        return at is not None and at <= tx.now

    return await store.read(look)


async def test_a_job_is_taken_at_its_time_and_not_before(store: Store, clock: ManualClock) -> None:
    await add(store, replace(JOB, run_at=clock.now() + timedelta(seconds=10)))
    clock.advance(9.999999)
    assert not await is_due(store)
    assert await take(store) == []
    clock.advance(0.000001)
    assert await is_due(store)
    assert len(await take(store)) == 1


async def test_a_host_takes_the_kinds_it_has_an_appetite_for(store: Store) -> None:
    await add(store, JOB, ATTEMPT)

    assert not await is_due(store, attempts=False, others=False)
    assert await take(store, attempts=0, others=0) == []
    assert await is_due(store, attempts=True, others=False)
    assert [job.kind for job in await take(store, attempts=5, others=0)] == ["attempt"]
    assert not await is_due(store, attempts=True, others=False)
    assert await is_due(store, attempts=False, others=True)
    assert [job.kind for job in await take(store, attempts=0, others=5)] == ["check"]
    assert not await is_due(store, attempts=True, others=True)


async def test_the_longest_waiting_are_taken_first_and_no_more_than_wanted(store: Store, clock: ManualClock) -> None:
    for number in (3, 1, 2):
        await add(store, replace(JOB, key=f"k{number}", run_at=clock.now() + timedelta(seconds=number)))
    await add(store, replace(ATTEMPT, run_at=clock.now() + timedelta(seconds=1.5)))
    clock.advance(5)
    assert [job.key for job in await take(store, attempts=1, others=2)] == ["k1", "attempt:ann", "k2"]
    assert [job.key for job in await take(store, attempts=1, others=2)] == ["k3"]


async def test_the_next_time_is_that_of_the_kinds_that_are_asked_for(store: Store, clock: ManualClock) -> None:
    """A host that could not take a due attempt must not wake up for it all the time."""
    soon, later = clock.now() + timedelta(seconds=1), clock.now() + timedelta(seconds=2)
    await add(store, replace(ATTEMPT, run_at=soon), replace(JOB, run_at=later))

    async def next_at(*, attempts: bool, others: bool) -> object:
        return await store.read(lambda tx: jobs.next_at(tx, attempts=attempts, others=others))

    assert await next_at(attempts=True, others=True) == soon
    assert await next_at(attempts=True, others=False) == soon
    assert await next_at(attempts=False, others=True) == later
    assert await next_at(attempts=False, others=False) is None
    clock.advance(5)
    await take(store)
    assert await next_at(attempts=True, others=True) is None


async def test_the_fence_grows_with_every_owner(store: Store, clock: ManualClock) -> None:
    await add(store, JOB)
    fences = [(await take_one(store)).fence]
    for _ in range(3):
        clock.advance(30)
        assert len(await lost(store)) == 1
        fences.append((await take_one(store)).fence)
    assert fences == [1, 2, 3, 4]


async def test_an_expired_lease_is_lost_to_the_next_host(store: Store, clock: ManualClock) -> None:
    await add(store, JOB)
    mine = await take_one(store, HERE)
    clock.advance(29.999999)
    assert await lost(store) == []
    clock.advance(0.000001)
    assert await store.read(jobs.next_loss) == clock.now()
    (gone,) = await lost(store)
    assert (gone.id, gone.state, gone.owner, gone.losses, gone.tries) == (mine.id, "queued", HERE, 1, 0)
    assert await store.read(jobs.next_loss) is None
    theirs = await take_one(store, THERE)
    assert (theirs.id, theirs.owner, theirs.fence) == (mine.id, THERE, 2)


async def test_what_a_stale_owner_reports_is_refused(store: Store, clock: ManualClock) -> None:
    await add(store, JOB)
    mine = await take_one(store, HERE)
    clock.advance(30)
    await lost(store)
    reports: list[Callable[[Tx], None]] = [
        lambda tx: jobs.finish(tx, mine),
        lambda tx: jobs.fail(tx, mine, "no"),
        lambda tx: jobs.retry(tx, mine, at=tx.now, error="no"),
        lambda tx: jobs.put_back(tx, mine),
    ]

    async def all_are_refused() -> None:
        for report in reports:
            with pytest.raises(JobLost) as refused:
                await store.write(report, caller=SYSTEM)
            assert refused.value.code == "JOB_LOST"

    await all_are_refused()
    theirs = await take_one(store, THERE)
    await all_are_refused()
    assert await live(store) == [theirs]
    await finish(store, theirs)
    await all_are_refused()
    with pytest.raises(JobLost):
        await finish(store, theirs)


async def test_an_owner_that_overslept_may_still_finish_while_nobody_took_over(
    store: Store, clock: ManualClock
) -> None:
    await add(store, JOB)
    job = await take_one(store)
    clock.advance(1000)
    await finish(store, job)
    assert await lost(store) == []


async def test_renewing_keeps_the_named_jobs_that_the_host_still_owns(store: Store, clock: ManualClock) -> None:
    await add(store, JOB, replace(JOB, key="k2"))
    first = (await take(store, HERE, others=1))[0]
    second = (await take(store, THERE, others=1))[0]
    clock.advance(20)
    both = [first.id, second.id]
    assert await store.write(lambda tx: jobs.renew(tx, HERE, both), caller=SYSTEM) == [first.id]
    assert await store.write(lambda tx: jobs.renew(tx, THERE, []), caller=SYSTEM) == []
    clock.advance(10)
    assert [job.id for job in await lost(store)] == [second.id]
    assert await store.write(lambda tx: jobs.renew(tx, THERE, both), caller=SYSTEM) == []


@pytest.mark.parametrize("verdict", ["queued", "done", "failed"])
async def test_a_job_of_unknown_outcome_waits_until_somebody_decides(
    store: Store, clock: ManualClock, verdict: Literal["queued", "done", "failed"]
) -> None:
    await add(store, replace(JOB, on_loss="unknown"))
    job = (await take(store, HERE, others=1))[0]
    assert not await store.write(lambda tx: jobs.resolve(tx, job.id, verdict), caller=SYSTEM)
    clock.advance(30)
    await lost(store)
    assert await take(store, THERE, others=1) == []
    assert await store.write(lambda tx: jobs.resolve(tx, job.id, verdict), caller=SYSTEM)
    found = await store.read(lambda tx: jobs.get(tx, job.id))
    assert found is not None
    assert found.state == verdict
    assert len(await take(store, THERE, others=1)) == (1 if verdict == "queued" else 0)


async def test_a_job_that_must_not_be_repeated_blindly_becomes_unknown(store: Store, clock: ManualClock) -> None:
    await add(store, replace(JOB, on_loss="unknown"))
    job = await take_one(store)
    clock.advance(30)
    (gone,) = await lost(store)
    assert (gone.state, gone.losses) == ("unknown", 1)
    assert await take(store) == []
    assert await keys(store) == ["unknown k1"]
    with pytest.raises(JobLost):
        await finish(store, job)
    await add(store, JOB)
    assert await keys(store) == ["unknown k1"]


async def test_a_failed_job_is_tried_again_at_its_time(store: Store, clock: ManualClock) -> None:
    await add(store, JOB)
    job = await take_one(store)
    at = clock.now() + timedelta(seconds=5)
    await store.write(lambda tx: jobs.retry(tx, job, at=at, error="no"), caller=SYSTEM)
    (waiting,) = await live(store)
    assert (waiting.state, waiting.tries, waiting.error, waiting.owner, waiting.run_at) == ("queued", 1, "no", None, at)
    assert await take(store) == []
    clock.advance(5)
    again = await take_one(store)
    assert (again.id, again.tries, again.fence) == (job.id, 1, 2)


async def test_a_job_put_back_is_as_if_it_had_not_been_taken(store: Store) -> None:
    await add(store, JOB)
    job = await take_one(store, HERE)
    await store.write(lambda tx: jobs.put_back(tx, job), caller=SYSTEM)
    again = await take_one(store, THERE)
    assert (again.id, again.tries, again.losses, again.fence, again.run_at) == (job.id, 0, 0, 2, job.run_at)


@pytest.mark.parametrize("how", ["retried", "put back", "lost"])
async def test_a_job_that_waits_again_will_do_for_whoever_asked_meanwhile(
    store: Store, clock: ManualClock, how: str
) -> None:
    await add(store, JOB)
    job = await take_one(store)
    await add(store, JOB)

    def wait_again(tx: Tx) -> object:
        if how == "retried":
            return jobs.retry(tx, job, at=tx.now, error="no")
        return jobs.put_back(tx, job) if how == "put back" else jobs.lost(tx)

    clock.advance(30)
    await store.write(wait_again, caller=SYSTEM)
    await finish(store, await take_one(store))
    assert await live(store) == []


@pytest.mark.parametrize("how", ["retried", "put back", "lost"])
async def test_a_timer_set_while_it_ran_survives_a_repetition(store: Store, clock: ManualClock, how: str) -> None:
    await add(store, JOB)
    job = await take_one(store)
    at = clock.now() + timedelta(hours=1)
    await add(store, replace(JOB, run_at=at))

    def wait_again(tx: Tx) -> object:
        if how == "retried":
            return jobs.retry(tx, job, at=tx.now, error="no")
        return jobs.put_back(tx, job) if how == "put back" else jobs.lost(tx)

    clock.advance(30)
    await store.write(wait_again, caller=SYSTEM)
    await finish(store, await take_one(store))
    (timer,) = await live(store)
    assert (timer.state, timer.run_at) == ("queued", at)


async def test_the_jobs_of_a_host_that_is_gone_are_free_at_once(store: Store) -> None:
    await add(store, JOB, replace(JOB, key="k2"))
    mine = (await take(store, HERE, others=1))[0]
    await take(store, THERE, others=1)
    await store.write(lambda tx: jobs.abandon(tx, HERE), caller=SYSTEM)
    assert [job.id for job in await lost(store)] == [mine.id]


async def test_only_the_live_jobs_of_a_stream_are_listed_in_order(store: Store, clock: ManualClock) -> None:
    for key in ("k3", "k1", "k2"):
        await add(store, replace(JOB, key=key))
        clock.advance(1)
    await add(store, replace(JOB, key="other", stream=StreamId("in_2")))
    assert await keys(store) == ["queued k3", "queued k1", "queued k2"]
    first = (await take(store, others=1))[0]
    await finish(store, first)
    assert await keys(store) == ["queued k1", "queued k2"]


async def test_a_job_that_nobody_needs_any_more_is_not_taken(store: Store) -> None:
    await add(store, JOB)
    cancelled = [await store.write(lambda tx: jobs.cancel(tx, JOB.key), caller=SYSTEM) for _ in range(2)]
    assert cancelled == [True, False]
    assert await take(store) == []
    await add(store, JOB)
    assert await keys(store) == ["queued k1"]


async def test_a_job_that_is_cancelled_while_it_is_done_is_its_owners_no_longer(store: Store) -> None:
    await add(store, JOB)
    job = await take_one(store)
    await store.write(lambda tx: jobs.guard(tx, job), caller=SYSTEM)
    await store.write(lambda tx: jobs.cancel(tx, JOB.key), caller=SYSTEM)
    for report in (jobs.guard, jobs.finish):
        with pytest.raises(JobLost):
            await store.write(lambda tx, report=report: report(tx, job), caller=SYSTEM)
    assert await store.write(lambda tx: jobs.renew(tx, HERE, [job.id]), caller=SYSTEM) == []
