"""How far plans have come, in a few numbers: for those who look often and need no more."""

from collections.abc import Iterator, Sequence

from moot.board import boards, tasks
from moot.board.boards import Board
from moot.board.states import HELD, OPEN_BOARDS, BoardStatus
from moot.board.tasks import Task
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.tools import teamwork, verifying

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


def obstacles(tx: ReadTx, tally: Tally, *, is_served: bool, place: str) -> list[str]:
    """Why a plan does not go on, with what helps; nothing if it does. `is_served`: somebody makes its checks; `place`:
    where whoever asks is."""
    board = tally.board
    found: list[str] = []
    if board.status == "paused":
        found.append(f"the plan {board.name} is paused{f': {board.reason}' if board.reason else ''}")
    if board.status == "planning":
        found.append(f"the plan {board.name} is not laid yet{f': {board.reason}' if board.reason else ''}")
    if tally.failed:
        failed = tasks.page(tx, board.id, statuses=("failed",), limit=_NAMED)
        retry = f"try one again with: moot task retry {failed[0].id}"
        found.append(f"the plan {board.name} has failed tasks: {_named(failed)}; {retry}")
    if tally.at_work:
        return [*found, *_unchecked(tx, board, is_served=is_served, place=place)]
    is_worked_on = board.status in OPEN_BOARDS and teamwork.trouble(tx, board) is None
    ready = tasks.available(tx, board.id, _NAMED) if is_worked_on else []
    if ready:
        found.append(f"nobody is at work on the plan {board.name}; to be claimed: {_named(ready)}")
    return found


def _unchecked(tx: ReadTx, board: Board, *, is_served: bool, place: str) -> Iterator[str]:
    """What waits for its checks because nobody is there who could make them."""
    for one in tasks.page(tx, board.id, statuses=("verifying",), limit=_NAMED):
        where = verifying.where(tx, one)
        if where is not None and where.place not in ("", place):
            yield f"the checks of {one.name} are made where its worktree is, and wait for a host there: {where.place}"
        elif not is_served and verifying.next_check(tx, one.id) is not None:
            yield f"{one.name} waits for its checks and no host is running; start one with: moot serve"


def _named(found: Sequence[Task]) -> str:
    return ", ".join(one.name for one in found)
