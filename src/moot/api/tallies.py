"""How far plans have come, in a few numbers: for those who look often and need no more."""

from moot.board import boards, tasks
from moot.board.boards import Board
from moot.board.states import HELD, BoardStatus
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx

OPEN: tuple[BoardStatus, ...] = ("in_progress", "ready", "paused", "failed", "planning")
_NAMED = 5  # tasks, where they may be many
_SHOWN = 20  # plans at once


@record
class Tally:
    board: Board
    total: int
    done: int  # or skipped
    at_work: int
    blocked: int
    failed: int

    @property
    def spelled(self) -> str:
        """`3 of 8 tasks, 1 at work, 2 blocked`"""
        others = ((self.at_work, "at work"), (self.blocked, "blocked"), (self.failed, "failed"))
        return ", ".join(
            (f"{self.done} of {self.total} tasks", *(f"{count} {word}" for count, word in others if count))
        )


def of_board(tx: ReadTx, board: Board) -> Tally:
    counts = tasks.counts(tx, board.id)
    return Tally(
        board,
        total=sum(one.tasks for one in counts),
        done=sum(one.tasks for one in counts if one.status in ("completed", "skipped")),
        at_work=sum(one.tasks for one in counts if one.status in HELD),
        blocked=sum(one.tasks for one in counts if one.is_blocked),
        failed=sum(one.tasks for one in counts if one.status == "failed"),
    )


def open_ones(tx: ReadTx, instance: InstanceName) -> list[Tally]:
    """Of the plans that are not over, the newest first."""
    return [of_board(tx, one) for one in boards.all_of(tx, instance, OPEN, _SHOWN)]


def obstacle(tx: ReadTx, tally: Tally) -> str:
    """Why a plan does not go on, with what helps; nothing if it does."""
    board = tally.board
    if board.status == "paused":
        return f"the plan {board.name} is paused{f': {board.reason}' if board.reason else ''}"
    if not tally.failed:
        return ""
    failed = tasks.page(tx, board.id, statuses=("failed",), limit=_NAMED)
    names = ", ".join(one.name for one in failed)
    return f"the plan {board.name} has failed tasks: {names}; try one again with: moot task retry {failed[0].id}"
