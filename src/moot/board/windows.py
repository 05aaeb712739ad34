"""Windows of plans that may be very long, for whoever looks at them."""

from datetime import datetime

from moot.board.tasks import Task
from moot.core.ids import AgentId, BoardId, InstanceName, TaskId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.store import queries

sql = queries.beside(__file__)


@record
class Span:
    """When somebody was at work on a task, or has been since."""

    id: TaskId
    name: str
    agent: AgentId
    started_at: datetime
    ended_at: datetime | None


def pending(tx: ReadTx, board: BoardId, *, is_blocked: bool, after: int, limit: int) -> list[Task]:
    """What nobody holds, and waits for others or could be claimed; in the order of the plan, behind a rank."""
    return tx.all(sql.pending, Task, board=board, is_blocked=int(is_blocked), after=after, limit=limit)


def first_unfinished(tx: ReadTx, board: BoardId) -> int:
    """The rank of the first task that is not over; 0, if all are."""
    return tx.maybe(sql.first_unfinished, int, board=board) or 0


def spans(tx: ReadTx, instance: InstanceName) -> list[Span]:
    return tx.all(sql.spans, Span, instance=instance)
