"""Cues: what a flow goes on from. Each commit has one, and with its moment it is all that the commit depends on besides
the flow itself: whoever has both can have the flow take the same way again.

A guide looks on as a flow goes on, and may say which cue is next. Most flows have one that does neither.
"""

from collections.abc import Sequence
from typing import Protocol

from moot.core.ids import StreamId
from moot.core.records import record
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.flows import Flow
from moot.engine.flow.inbox import Submission
from moot.engine.step import Outcome


@record
class Done:
    """What moot itself has done for a strand."""

    strand: int
    outcome: Outcome


@record
class Came:
    """What others have submitted: as many as go together are taken in, of which there is at least one."""

    submissions: tuple[Submission, ...]


@record
class Due:
    """The time that a strand waits for has come."""

    strand: int


@record
class Onward:
    """Nothing but itself: it can go on at once, or everything waits."""


Cue = Done | Came | Due | Onward


@record
class Position:
    """Of a commit among all others, and what it has brought about: stream and number of each event, once it is made."""

    id: str  # made in its transaction: sorts by age
    seq: int  # the last number of the stream before it
    events: Sequence[tuple[StreamId, int]]


class Guide(Protocol):
    @property
    def is_asked(self) -> bool:
        """Whether it wants to choose the cue of every commit."""
        ...

    @property
    def evaluator(self) -> Evaluator:
        """For the commit that is computed next."""
        ...

    async def choose(self, live: Live, waiting: tuple[Submission, ...], own: Cue | None) -> Cue | None:
        """Which cue is taken; `own` is what the flow itself would take. None: nothing is done before it looks again."""
        ...

    def nothing_came(self) -> None:
        """Nothing comes of the cue that was chosen."""
        ...

    def position(self, tx: Tx, flow: Flow) -> Position | None:
        """At the beginning of the transaction that is to commit what came of the cue."""
        ...

    def committed(self, before: Live, change: Delta, after: Live, position: Position | None) -> None:
        """It is committed."""
        ...

    def leave(self) -> None:
        """The flow is in nobody's hands for now."""
        ...


class Guiding(Protocol):
    """Finds the guide of a flow for whoever takes it into its hands; the signal rings when anything was committed."""

    def __call__(self, flow: Flow, signal: Signal) -> Guide: ...


@record
class Unguided:
    """The flow goes its own way."""

    evaluator: Evaluator
    is_asked: bool = False

    async def choose(self, live: Live, waiting: tuple[Submission, ...], own: Cue | None) -> Cue | None:
        return own

    def nothing_came(self) -> None:
        pass

    def position(self, tx: Tx, flow: Flow) -> Position | None:
        return None

    def committed(self, before: Live, change: Delta, after: Live, position: Position | None) -> None:
        pass

    def leave(self) -> None:
        pass
