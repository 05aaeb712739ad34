"""Where a flow is: a frame for every block that it is in, the innermost last. Plain data, kept with every step."""

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


def on(frames: Frames) -> Frames:
    """Behind the step where the innermost block is."""
    *outer, last = frames
    return (*outer, Frame(last.block, last.at + 1))


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
