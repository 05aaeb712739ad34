"""How a task goes on and ends, and what that means for those that wait for it and for the whole board."""

from collections.abc import Mapping

from moot.board import boards, claims, states, tasks
from moot.board.errors import InvalidTransition
from moot.board.states import BoardStatus, TaskStatus
from moot.board.tasks import Task
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.events import Event
from moot.core.ids import AgentId, BoardId, InstanceName
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import Tx
from moot.store import queries

sql = queries.beside(__file__)
STATUS = "task_status"


@record
class Result:
    """What came of a task."""

    outcome: str | None = None
    detail: Mapping[str, Json] | None = None
    error: str | None = None
    by: AgentId | None = None


def advance(tx: Tx, task: Task, status: TaskStatus) -> None:
    """On to another state in which its holder works on it, for whom time starts anew."""
    if task.status != status:
        states.check_task(task.name, task.status, status)
    tx.run(sql.advance, id=task.id, status=status, now=tx.now, lease_until=tx.now + claims.LEASE)
    if task.status != status:
        tx.announce(Event(task.stream, STATUS, task.id, {"name": task.name, "status": status}, is_quiet=True))


def propose(tx: Tx, task: Task, result: Result) -> None:
    """Its holder says that it is done. It goes on to hold it until that is verified, for as long as that takes."""
    _check_outcome(result)
    advance(tx, task, "verifying")
    tx.run(sql.propose, id=task.id, outcome=result.outcome, detail=json.dumps(result.detail or {}))


def complete(tx: Tx, task: Task, result: Result) -> None:
    _check_outcome(result)
    _end(tx, task, "completed", result)


def _check_outcome(result: Result) -> None:
    if not (result.outcome or "").strip():
        raise InvalidInput("A task is completed with an outcome.", "Say in `outcome` what came of it.")


def fail(tx: Tx, task: Task, result: Result) -> None:
    """What needs it waits until it is tried again, skipped, or planned anew."""
    if not (result.error or "").strip():
        raise InvalidInput("A task fails with an error.", "Say in `error` what went wrong.")
    _end(tx, task, "failed", result)


def skip(tx: Tx, task: Task, result: Result) -> None:
    """It is not to be done; what needs it does not wait for it."""
    board = boards.get(tx, task.board)
    if board.is_half_planned:  # what needs it may not be there yet, and would wait for it for ever
        raise InvalidTransition(board.reason, "Wait until all of it is there.")
    _end(tx, task, "skipped", result)
    _revive(tx, task.board)


def retry(tx: Tx, task: Task) -> None:
    """A failed task waits for somebody again, and its board goes on."""
    states.check_task(task.name, task.status, "pending")
    if task.status != "failed":
        raise InvalidTransition(f"The task {task.name!r} is {task.status}.", "Only what has failed is tried again.")
    tx.run(sql.retry, id=task.id, now=tx.now)
    tx.emit(Event(task.stream, STATUS, task.id, {"name": task.name, "status": "pending"}))
    _revive(tx, task.board)


def _revive(tx: Tx, id: BoardId) -> None:
    """A board that has failed goes on when something can be claimed after all."""
    board = boards.get(tx, id)
    if board.status == "failed" and tasks.has_ready(tx, id):
        boards.turn(tx, board, "in_progress")


def move_board(
    tx: Tx, id: BoardId, status: BoardStatus, reason: str = "", instance: InstanceName | None = None
) -> None:
    """What somebody says of a whole board. One that goes on is over at once if its last task has ended meanwhile."""
    board = boards.held(tx, id, instance)
    if status == "completed" != board.status and tasks.has_unfinished(tx, id):
        raise InvalidTransition(
            f"Tasks of the workflow {board.name!r} are neither completed nor skipped.",
            "Skip those that are not needed, or say abandoned.",
        )
    if boards.move(tx, board, status, reason) and status == "in_progress":
        settle(tx, id)


def settle(tx: Tx, id: BoardId) -> None:
    """A board is over when nothing can be claimed and nobody is at work. Whoever asks holds its stream's counter:
    of two that end at the same moment the second sees what the first has done."""
    if tasks.has_ready(tx, id) or tasks.has_held(tx, id):
        return
    board = boards.get(tx, id)
    if not tasks.has_unfinished(tx, id):
        if board.status in ("ready", "in_progress", "failed"):
            boards.turn(tx, board, "completed")
    elif board.status == "in_progress":
        boards.turn(tx, board, "failed", "What is left waits for tasks that have failed.")


def _end(tx: Tx, task: Task, status: TaskStatus, result: Result) -> None:
    states.check_task(task.name, task.status, status)
    tx.put(
        sql.end,
        id=task.id,
        status=status,
        outcome=result.outcome,
        detail=json.dumps(result.detail) if result.detail else "{}",
        error=result.error,
        by=result.by,
        now=tx.micros,
    )
    freed = tx.all(sql.unblock, int, id=task.id) if status != "failed" else []
    ended = Event(task.stream, STATUS, task.id, {"name": task.name, "status": status})
    if status == "completed" and any(freed):  # something can be claimed: the board goes on, whoever looks at it
        tx.announce(ended)
        return
    tx.emit(ended)
    if not any(freed):
        settle(tx, task.board)
