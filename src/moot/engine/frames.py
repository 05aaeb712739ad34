"""Where a flow is: a frame for every block that it is in, the innermost last. Plain data, kept with every step.

A strand of its own begins with a root: `task/review@3` is what the third strand does of the task `review`. In front of
that stands the way to the workflow that has the task, if that is an included one.
"""

from typing import cast

from moot.core.json import Json
from moot.core.records import record, replace


@record
class Frame:
    """A block under way: which of the step around it, the place in it, and how often the step there came back from a
    block of its own."""

    block: str
    at: int = 0
    rounds: int = 0


Frames = tuple[Frame, ...]
START: Frames = (Frame(""),)
# Roots: where the steps of a strand begin. That of the file's own steps has no name.
FAILURE = "failure"
TASK = "task/"
CLEANUP = "cleanup/"
# Blocks of a step that includes a workflow: its steps, and those that follow when it has failed.
WORKFLOW = "workflow"
ON_FAILURE = "on_failure"


def rooted(kind: str, name: str, strand: int) -> Frame:
    """Where a strand begins that does a task, or cleans up after it."""
    return Frame(f"{kind}{name}@{strand}")


def is_root(block: str) -> bool:
    return block == FAILURE or block.startswith((TASK, CLEANUP))


def root(frames: Frames) -> int:
    """How deep the strand's own way begins."""
    for at in range(len(frames) - 1, 0, -1):
        if is_root(frames[at].block):
            return at
    return 0


def plain(block: str) -> str:
    """Without the strand: what the block is called in a definition."""
    return block.rpartition("@")[0] or block if block.startswith((TASK, CLEANUP)) else block


def owner(frames: Frames) -> str:
    """`@3` on the way of the third strand, nothing on that of the first."""
    block = frames[root(frames)].block
    return f"@{block.rpartition('@')[2]}" if block.startswith((TASK, CLEANUP)) else ""


def on(frames: Frames) -> Frames:
    """Behind the step where the innermost block is."""
    last = frames[-1]
    return (*frames[:-1], Frame(last.block, last.at + 1))


def into(frames: Frames, block: str) -> Frames:
    return (*frames, Frame(block))


def back(frames: Frames) -> Frames:
    """Out of the innermost block, to the step that it belongs to, which has gone through it once more."""
    *outer, around, _ = frames
    return (*outer, replace(around, rounds=around.rounds + 1))


def to_json(frames: Frames) -> Json:
    return [[one.block, one.at, one.rounds] for one in frames]


def from_json(stored: Json) -> Frames:
    return tuple(Frame(block, at, rounds) for block, at, rounds in cast(list[tuple[str, int, int]], stored))
