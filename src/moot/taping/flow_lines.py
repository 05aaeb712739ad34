"""Lines of a tape that tell of flows: which have begun, how each went on, and what it came to.

How a flow goes on depends on nothing but itself, on what it goes on from (its cue), and on the moment at which that is
computed. All of it is here, commit by commit.
"""

from collections.abc import Mapping
from typing import Any, Literal

from moot.core.records import record
from moot.engine.flow.flows import Driver
from moot.engine.flow.inbox import Kind
from moot.engine.step import Ending


@record
class Started:
    """A flow that somebody has begun: the texts that it is made from, and what it was given."""

    flow: str
    name: str
    driver: Driver
    given: Mapping[str, Any]
    files: tuple[tuple[str, str], ...]
    type: Literal["started"] = "started"


@record
class Submitted:
    """What somebody had for a flow; what that was, the tape tells where they did it."""

    kind: Kind
    strand: int
    step: str = ""  # that it is about
    paths: tuple[str, ...] = ()  # that it changes
    strands: tuple[int, ...] = ()  # of whoever has submitted it


@record
class Worked:
    """Work that moot has done itself, or had done by another server, and what came of it."""

    asked: Mapping[str, Any]  # the command, or the tool and what it was given
    status: Ending
    result: Any = None
    error: str = ""


@record
class Moved:
    """A commit of a flow. Of the steps it has those that were taken, each with how that ended, and those whose work was
    given out."""

    flow: str
    id: str  # made in its transaction: sorts by age
    seq: int  # behind which it came
    events: tuple[int, ...]  # the numbers of what it has brought about
    cue: Literal["done", "came", "due", "onward"]
    millis: int  # the moment
    seed: str
    taken: tuple[str, ...]
    given: tuple[str, ...]
    status: str  # of the flow then
    strand: int = 0  # whose work is done, or whose time has come
    step: str = ""  # where that is
    worked: Worked | None = None
    came: tuple[Submitted, ...] = ()
    type: Literal["moved"] = "moved"


@record
class Stood:
    """A flow as it stood when the run was over: its state as JSON texts."""

    flow: str
    status: str
    error: str
    result: str | None
    fields: Mapping[str, str]
    type: Literal["stood"] = "stood"
