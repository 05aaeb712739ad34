"""Jobs: a row for each piece of work, with one owner at a time.

While a job is live its key is unique: adding it again while it waits changes nothing, while it runs makes one new job
follow. An owner that overslept its lease loses the job; its fence is stale from then on and what it reports is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Literal

from moot.core import json
from moot.core.errors import MootError
from moot.core.ids import HostId, JobId, StreamId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
State = Literal["queued", "running", "done", "failed", "unknown", "cancelled"]
OnLoss = Literal["repeat", "unknown"]
LEASE = timedelta(seconds=30)


class JobLost(MootError):
    """The lease ran out and the job may have a new owner."""

    code = "JOB_LOST"


@record
class Job:
    id: JobId
    key: str
    kind: str
    stream: StreamId
    subject: str
    arguments: Mapping[str, Json]
    state: State
    run_at: datetime
    deadline: datetime | None
    owner: HostId | None
    fence: int
    tries: int  # failed executions so far
    losses: int  # executions whose owner vanished
    on_loss: OnLoss
    error: str | None
    created_at: datetime


@record
class NewJob:
    """Work to be done: at once, or at a time (then it is a timer)."""

    key: str
    kind: str
    stream: StreamId
    subject: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    run_at: datetime | None = None
    deadline: datetime | None = None
    on_loss: OnLoss = "repeat"


@record
class Appetite:
    """Which jobs a host takes, and how many now."""

    host: HostId
    attempts: int = 0
    others: int = 0


def add(tx: Tx, new: NewJob) -> None:
    """Have it done; if it is being done right now, have it done once more afterwards, and not before its time."""
    tx.run(
        sql.add,
        id=tx.new_id("jb"),
        key=new.key,
        kind=new.kind,
        stream=new.stream,
        subject=new.subject,
        arguments=json.dumps(new.arguments),
        run_at=new.run_at or tx.now,
        deadline=new.deadline,
        on_loss=new.on_loss,
        now=tx.now,
    )
    tx.wake()


def take(tx: Tx, appetite: Appetite) -> list[Job]:
    """Become the owner of jobs that are due, the longest waiting first."""
    taken = tx.all(
        sql.take,
        Job,
        host=appetite.host,
        attempts=max(appetite.attempts, 0),
        others=max(appetite.others, 0),
        now=tx.now,
        lease_until=tx.now + LEASE,
    )
    return sorted(taken, key=lambda job: (job.run_at, job.id))


def next_at(tx: ReadTx, *, attempts: bool, others: bool) -> datetime | None:
    """When the earliest job of these kinds that waits wants to run."""
    return tx.maybe(sql.next_at, datetime, attempts=attempts, others=others)


def next_loss(tx: ReadTx) -> datetime | None:
    """When the first lease runs out, unless its owner renews it."""
    return tx.maybe(sql.next_loss, datetime)


def renew(tx: Tx, host: HostId, ids: Iterable[JobId]) -> list[JobId]:
    """Keep the jobs a host is at work on; returns those it still owns. What it does not name runs out: nobody works
    on it any more."""
    until = tx.now + LEASE
    return [id for id in sorted(ids) if tx.run(sql.renew, id=id, host=host, lease_until=until)]


def cancelled(tx: ReadTx, ids: Sequence[JobId]) -> list[JobId]:
    """Those of these jobs that somebody has decided nobody needs any more."""
    return [JobId(id) for id in tx.all(sql.cancelled, str, ids=json.dumps(list(ids)))] if ids else []


def resolve(tx: Tx, id: JobId, verdict: Literal["queued", "done", "failed"]) -> bool:
    """Decide about a job of unknown outcome: do it again, or count it as done or failed. False if it is not one."""
    ended_at = None if verdict == "queued" else tx.now
    is_resolved = bool(tx.run(sql.resolve, id=id, state=verdict, now=tx.now, ended_at=ended_at))
    tx.wake()
    return is_resolved


def finish(tx: Tx, job: Job) -> None:
    """Done. If it was added again meanwhile, a new job follows."""
    _close(tx, job, "done", None)


def fail(tx: Tx, job: Job, error: str) -> None:
    """Given up."""
    _close(tx, job, "failed", error)


def retry(tx: Tx, job: Job, *, at: datetime, error: str) -> None:
    """Failed; try again at a time."""
    _own(tx, job, tx.run(sql.retry, id=job.id, fence=job.fence, run_at=at, error=error))
    tx.wake()


def put_back(tx: Tx, job: Job) -> None:
    """Not done for reasons that are not its own (the host stops): next in line for whoever comes."""
    _own(tx, job, tx.run(sql.put_back, id=job.id, fence=job.fence, now=tx.now))
    tx.wake()


def postpone(tx: Tx, job: Job, at: datetime) -> None:
    """Not now, for reasons that are not its own: it waits until then, as if it had not been taken."""
    _own(tx, job, tx.run(sql.postpone, id=job.id, fence=job.fence, run_at=at))
    tx.wake()


def hurry(tx: Tx, key: str) -> None:
    """Do it now, whatever time it waits for."""
    if tx.run(sql.hurry, key=key, now=tx.now):
        tx.wake()


def cancel(tx: Tx, key: str) -> bool:
    """Nobody needs it any more; whoever is at work on it finds that it was taken away. False if there is none."""
    is_cancelled = bool(tx.run(sql.cancel, key=key, now=tx.now))
    tx.wake()
    return is_cancelled


def is_under_way(tx: Tx, key: str) -> bool:
    """Whether it is being done. Whoever does it cannot end it before this transaction has, and looks then."""
    return tx.maybe(sql.under_way, str, key=key) is not None


def is_owned(tx: ReadTx, job: Job) -> bool:
    """Whether it is still its owner's, for whoever is about to do something that no transaction can refuse."""
    return tx.maybe(sql.owned, str, id=job.id, fence=job.fence) is not None


def guard(tx: Tx, job: Job) -> None:
    """Before a result is written while the job goes on: JobLost unless it is still its owner's."""
    _own(tx, job, tx.run(sql.guard, id=job.id, fence=job.fence))


def abandon(tx: Tx, host: HostId) -> None:
    """A host is known to be gone: its leases end now."""
    tx.run(sql.abandon, host=host, now=tx.now)


def lost(tx: Tx) -> list[Job]:
    """Take away the jobs of owners that are gone; those that must not be repeated blindly become `unknown`."""
    return tx.all(sql.lose, Job, now=tx.now)


def live(tx: ReadTx, stream: StreamId) -> list[Job]:
    """Everything of a stream that is not over."""
    return tx.all(sql.live, Job, stream=stream)


def get(tx: ReadTx, id: JobId) -> Job | None:
    return tx.maybe(sql.get, Job, id=id)


@record
class _Closed:
    again: datetime | None  # when another is to follow


def _close(tx: Tx, job: Job, state: State, error: str | None) -> None:
    closed = tx.maybe(sql.close, _Closed, id=job.id, fence=job.fence, state=state, error=error, now=tx.now)
    _own(tx, job, closed is not None)
    if closed is not None and closed.again:
        add(tx, NewJob(job.key, job.kind, job.stream, job.subject, job.arguments, closed.again, on_loss=job.on_loss))
    tx.wake()


def _own(tx: Tx, job: Job, touched: object) -> None:
    if not touched:
        raise JobLost(f"The job {job.id} was taken away from {job.owner}.", "Its new owner does it again.")


def forget(tx: Tx, stream: StreamId) -> None:
    tx.run(sql.forget, stream=stream)
