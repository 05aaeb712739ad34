"""The timeline: what was tried and called, one after the other, and when what was used."""

from datetime import datetime, timedelta

from moot.core.clock import MICROSECOND
from moot.core.ids import AgentId, AttemptId, InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.store import queries

sql = queries.beside(__file__)
_END = "~"  # behind every id


@record
class Entry:
    id: str
    kind: str  # attempt, or as operations have it
    name: str
    agent: str
    attempt: AttemptId | None
    number: int
    state: str
    error: str | None
    started_at: datetime
    ended_at: datetime | None

    @property
    def age(self) -> str:
        """The part of its id by which all of them follow one another."""
        return self.id.partition("_")[2]


@record
class Point:
    """What was used in a piece of time."""

    at: datetime
    name: str
    tokens: int
    cost: int


@record
class Note:
    """What somebody used at a moment."""

    agent: AgentId
    at: datetime
    tokens: int
    cost: int


def entries(tx: ReadTx, instance: InstanceName, agent: str, before: str, limit: int) -> list[Entry]:
    """The last before an age, newest first; of one agent if it is named."""
    age, values = before or _END, {"instance": instance, "agent": agent, "limit": limit}
    tried = tx.all(sql.attempts, Entry, **values, before=f"at_{age}")
    called = tx.all(sql.operations, Entry, **values, before=f"op_{age}")
    return sorted((*tried, *called), key=lambda one: one.age, reverse=True)[:limit]


def spent(tx: ReadTx, instance: InstanceName, step: timedelta, since: datetime) -> list[Point]:
    """By agent, in pieces of time of this length, from a moment on."""
    return tx.all(sql.spent_by_agent, Point, instance=instance, step=step // MICROSECOND, since=since)


def notes(tx: ReadTx, instance: InstanceName) -> list[Note]:
    """Whatever was used, in the order of time for each agent."""
    return tx.all(sql.notes, Note, instance=instance)
