"""Attempts: single executions of an agent's backend. A newer one makes the older one's writes worthless."""

from datetime import datetime
from typing import Literal

from moot.core.caller import Caller
from moot.core.events import Event
from moot.core.ids import AgentId, AttemptId, HostId, JobId, RunId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry.errors import AttemptEnded
from moot.store import queries

sql = queries.beside(__file__)
STARTED = "attempt_started"
SUCCEEDED = "attempt_succeeded"
FAILED = "attempt_failed"
INTERRUPTED = "attempt_interrupted"
LOST = "attempt_lost"
State = Literal["running", "succeeded", "failed", "lost", "interrupted"]


@record
class Attempt:
    id: AttemptId
    agent: AgentId
    job: JobId
    fence: int
    number: int
    host: HostId
    state: State
    error: str | None
    started_at: datetime
    ended_at: datetime | None


@record
class NewAttempt:
    """Who runs, for which job, as the how-manieth try, where."""

    agent: AgentId
    stream: StreamId
    job: JobId
    fence: int
    number: int
    host: HostId
    run: RunId | None = None


def start(tx: Tx, new: NewAttempt) -> AttemptId:
    id = AttemptId(tx.new_id("at"))
    tx.run(
        sql.add,
        id=id,
        agent=new.agent,
        run=new.run,
        job=new.job,
        fence=new.fence,
        number=new.number,
        host=new.host,
        now=tx.now,
    )
    tx.announce(Event(new.stream, STARTED, id, {"agent": new.agent, "number": new.number}, is_quiet=True))
    return id


def end(tx: Tx, id: AttemptId, state: State, error: str | None = None) -> bool:
    """Close it and its token; False if it was closed before. The caller emits what the end means."""
    ended = tx.run(sql.end, id=id, state=state, error=error, now=tx.now)
    tx.run(sql.end_tokens, attempt=id, now=tx.now)
    return bool(ended)


def led_by(tx: Tx, id: AttemptId, hops: int) -> None:
    """What an attempt was given came about through so many messages of agents; more counts."""
    if hops:
        tx.run(sql.led_by, id=id, hops=hops)


def hops(tx: ReadTx, id: AttemptId) -> int:
    """How many messages of agents led to what an attempt was given."""
    return tx.maybe(sql.hops, int, id=id) or 0


def guard(tx: Tx, caller: Caller) -> None:
    """Refuse what an attempt writes after somebody else has taken over."""
    if caller.attempt is None:
        return
    tx.lock("attempts", caller.attempt)
    if not tx.maybe(sql.is_running, int, id=caller.attempt, fence=caller.fence):
        raise _ended()


def asked(tx: Tx, caller: Caller) -> Literal["stop", "shutdown"] | None:
    """The same, of an attempt whose row is locked, and what is wanted of it, as `stopping.asked` has it."""
    found = tx.maybe(sql.asked, str, id=caller.attempt, fence=caller.fence)
    if found is None:
        raise _ended()
    return "stop" if found == "stop" else "shutdown" if found else None


def _ended() -> AttemptEnded:
    return AttemptEnded(
        "This attempt has ended and another may have taken its place; nothing was written.",
        "Stop working.",
    )


def of_job(tx: ReadTx, job: JobId) -> list[Attempt]:
    """All attempts at one delivery, oldest first."""
    return tx.all(sql.of_job, Attempt, job=job)


def first_try(tx: ReadTx, job: JobId) -> datetime:
    """When the first of the tries began that count, at a delivery that has begun."""
    return tx.one(sql.first_try, datetime, job=job)


def get(tx: ReadTx, id: AttemptId) -> Attempt | None:
    return tx.maybe(sql.get, Attempt, id=id)


def running(tx: ReadTx, agent: AgentId) -> Attempt | None:
    return tx.maybe(sql.running, Attempt, agent=agent)


def latest(tx: ReadTx, agent: AgentId, limit: int) -> list[Attempt]:
    """The last attempts of an agent, newest first."""
    return tx.all(sql.latest, Attempt, agent=agent, limit=limit)
