"""Tasks: what is to be done, what it waits for, how it stands; found without looking at all of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from moot.board import plans, states
from moot.board.errors import TaskNotFound
from moot.board.plans import Complexity, Kind
from moot.board.states import HELD, TaskStatus
from moot.core import json
from moot.core.ids import AgentId, BoardId, StreamId, TaskId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
SHOWN = 100  # of a list that may be endless


@record
class Task:
    id: TaskId
    board: BoardId
    stream: StreamId
    name: str
    description: str
    rank: int
    parallel_group: str | None
    complexity: Complexity | None
    assigned: str | None
    capabilities: tuple[str, ...]
    files: tuple[str, ...]
    checks: tuple[Mapping[str, Json], ...]
    status: TaskStatus
    blockers: int
    holder: AgentId | None
    hand: str | None  # the token or attempt through which its holder acts
    fence: int
    lease_until: datetime | None
    plan: Mapping[str, Json]
    context: Mapping[str, Json]
    outcome: str | None
    outcome_detail: Mapping[str, Json]
    error: str | None
    done_by: AgentId | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    updated_at: datetime

    @property
    def is_blocked(self) -> bool:
        return self.status == "pending" and self.blockers > 0

    def is_for(self, name: str) -> bool:
        """Whether an agent of this name may do it, in whatever spelling it is meant for somebody."""
        return self.assigned is None or self.assigned.casefold() == name.casefold()

    def is_held(self, now: datetime) -> bool:
        """Somebody is at work on it whose time has not run out; while it is verified, moot is."""
        is_within = self.lease_until is None or self.lease_until > now
        return self.status in HELD and (is_within or self.status == "verifying")


@record
class Edge:
    """What a task needs, and how that stands."""

    id: TaskId
    name: str
    kind: Kind
    status: TaskStatus
    outcome: str | None
    error: str | None

    @property
    def is_waited_for(self) -> bool:
        return self.kind == "blocks" and self.status not in ("completed", "skipped")


@record
class Count:
    status: TaskStatus
    is_blocked: bool
    complexity: Complexity | None
    parallel_group: str | None
    tasks: int


def find(tx: ReadTx, id: TaskId) -> Task | None:
    return tx.maybe(sql.get, Task, id=id)


def get(tx: ReadTx, id: TaskId, stream: StreamId | None = None) -> Task:
    """TaskNotFound if there is none, or none in this stream."""
    found = find(tx, id)
    if found is None or stream not in (None, found.stream):
        raise missing(id)
    return found


def locked(tx: Tx, id: TaskId, stream: StreamId | None = None) -> Task:
    """Like `get`, and nobody else changes it until the end."""
    found = tx.maybe(sql.locked, Task, id=id)
    if found is None or stream not in (None, found.stream):
        raise missing(id)
    return found


def missing(id: str) -> TaskNotFound:
    return TaskNotFound(f"There is no task {id[:80]!r} here.", "See workflow_next_tasks, or moot task ls.")


def named(tx: ReadTx, board: BoardId, name: str) -> Task | None:
    return tx.maybe(sql.named, Task, board=board, folded=plans.fold(name))


def available(tx: ReadTx, board: BoardId, limit: int) -> list[Task]:
    """What can be claimed now, in the order of the plan: first what was left by somebody whose time ran out."""
    left = lapsed(tx, board, limit)
    return [*left, *tx.all(sql.ready, Task, board=board, limit=limit - len(left))]


def lapsed(tx: ReadTx, board: BoardId, limit: int) -> list[Task]:
    """What is held by somebody whose time has run out."""
    return tx.all(sql.lapsed, Task, board=board, now=tx.now, limit=limit)


def next_lapse(tx: ReadTx, board: BoardId) -> datetime | None:
    """When the first claim runs out, unless there is a sign of life."""
    return tx.maybe(sql.next_lapse, datetime, board=board)


def held(tx: ReadTx, board: BoardId, limit: int = SHOWN) -> list[Task]:
    """What somebody is at work on within their time, or moot is verifying."""
    return tx.all(sql.held, Task, board=board, now=tx.now, limit=limit)


def has_ready(tx: ReadTx, board: BoardId) -> bool:
    return tx.maybe(sql.has_ready, int, board=board) is not None


def has_held(tx: ReadTx, board: BoardId) -> bool:
    return tx.maybe(sql.has_held, int, board=board) is not None


def has_unfinished(tx: ReadTx, board: BoardId) -> bool:
    """Whether anything is neither completed nor skipped."""
    return tx.maybe(sql.has_unfinished, int, board=board) is not None


def at_work(tx: ReadTx, board: BoardId) -> int:
    """How many are held by somebody whose time has not run out."""
    return tx.one(sql.at_work, int, board=board, now=tx.now)


def held_by(tx: ReadTx, agent: AgentId) -> list[Task]:
    return tx.all(sql.held_by, Task, agent=agent)


def page(
    tx: ReadTx, board: BoardId, *, after: int = -1, limit: int = SHOWN, statuses: Sequence[TaskStatus] = ()
) -> list[Task]:
    """In the order of the plan, from the one after a rank."""
    wanted = json.dumps(list(statuses or states.TASK))
    return tx.all(sql.page, Task, board=board, after=after, limit=limit, statuses=wanted)


def needs(tx: ReadTx, task: TaskId, limit: int = SHOWN) -> list[Edge]:
    """What it needs: first what it waits for, then in the order of the plan."""
    return tx.all(sql.needs, Edge, task=task, limit=limit)


def dependants(tx: ReadTx, task: TaskId, limit: int = SHOWN) -> list[Edge]:
    """What needs it."""
    return tx.all(sql.dependants, Edge, task=task, limit=limit)


def finished(tx: ReadTx, board: BoardId, limit: int, before: Task | None = None) -> list[Task]:
    """Completed or skipped, the last ones first, from the one that ended before another."""
    moment = (before and before.ended_at) or tx.now + timedelta(days=1)
    return tx.all(sql.finished, Task, board=board, before=moment, id=before.id if before else "", limit=limit)


def group(tx: ReadTx, task: Task, limit: int = SHOWN) -> list[Task]:
    """Those that may be done beside it, as its plan says."""
    if task.parallel_group is None:
        return []
    return tx.all(sql.group, Task, board=task.board, task=task.id, parallel_group=task.parallel_group, limit=limit)


def counts(tx: ReadTx, board: BoardId) -> list[Count]:
    return tx.all(sql.counts, Count, board=board)
