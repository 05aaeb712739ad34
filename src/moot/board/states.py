"""The states of boards and tasks, and every way from one to another."""

from collections.abc import Mapping
from typing import Literal

from moot.board.errors import InvalidTransition

BoardStatus = Literal["planning", "ready", "in_progress", "paused", "completed", "failed", "abandoned"]
TaskStatus = Literal["pending", "planning", "in_progress", "verifying", "completed", "failed", "skipped"]

BOARD: Mapping[BoardStatus, tuple[BoardStatus, ...]] = {
    "planning": ("ready", "abandoned"),
    "ready": ("planning", "in_progress", "paused", "completed", "abandoned"),
    "in_progress": ("planning", "paused", "completed", "failed", "abandoned"),
    "paused": ("planning", "in_progress", "abandoned"),
    "failed": ("planning", "in_progress", "abandoned"),
    "completed": ("in_progress",),  # when tasks are added
    "abandoned": (),
}
# Back to `pending` a task goes when its claim is released or runs out, and when a failed one is tried again.
TASK: Mapping[TaskStatus, tuple[TaskStatus, ...]] = {
    "pending": ("planning", "skipped"),
    "planning": ("in_progress", "verifying", "completed", "failed", "pending", "skipped"),
    "in_progress": ("planning", "verifying", "completed", "failed", "pending", "skipped"),
    "verifying": ("in_progress", "completed", "failed", "pending", "skipped"),
    "failed": ("pending", "skipped"),
    "completed": (),
    "skipped": (),
}
HELD: frozenset[TaskStatus] = frozenset(("planning", "in_progress", "verifying"))
OPEN_BOARDS: frozenset[BoardStatus] = frozenset(("ready", "in_progress"))  # whose tasks can be claimed


def check_task(name: str, before: TaskStatus, after: TaskStatus) -> None:
    """InvalidTransition, which names what is allowed."""
    if after not in TASK[before]:
        raise _refusal(f"The task {name!r}", before, after, TASK[before])


def check_board(name: str, before: BoardStatus, after: BoardStatus) -> None:
    if after not in BOARD[before]:
        raise _refusal(f"The workflow {name!r}", before, after, BOARD[before])


def _refusal(what: str, before: str, after: str, allowed: tuple[str, ...]) -> InvalidTransition:
    ways = f"From {before} it can become: {', '.join(allowed)}." if allowed else f"{before.capitalize()} is final."
    return InvalidTransition(f"{what} is {before} and cannot become {after}.", ways)
