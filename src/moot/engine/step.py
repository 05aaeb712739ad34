"""One step of a definition, and what may come of it when a flow arrives there: the contract of all kinds of steps.

A kind is asked what to do (`take`), with everything that its expressions come to. It changes nothing by itself: it
answers with a move, and whoever advances the flow makes it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from moot.core import yaml
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.engine.expressions.template import Expression
from moot.engine.state.operations import Update

Ending = Literal["success", "failed"]


class StepFailed(MootError):
    """A step could not be taken."""

    code = "STEP_FAILED"


@record
class Step:
    """`detail` is what its kind makes of what it says; `blocks` are the steps inside it, by their key."""

    name: str  # its id, or its place in its block
    type: str
    detail: Any = None
    blocks: Mapping[str, tuple["Step", ...]] = field(default_factory=dict[str, tuple["Step", ...]])
    place: yaml.Path = ()
    is_loop: bool = False


@record
class Next:
    """It is done: write this, and go on behind it."""

    updates: tuple[Update, ...] = ()
    warning: str = ""


@record
class Enter:
    """Go through one of its blocks, then come back to it."""

    block: str
    items: Json = None  # kept while the loop goes on, from which each round has its own


@record
class Leave:
    """Out of the loop around it, or on to its next round."""

    is_over: bool


@record
class Exit:
    """The flow ends here."""

    status: Ending = "success"
    reason: str = ""


Move = Next | Enter | Leave | Exit


class Turn(Protocol):
    """A flow at a step."""

    @property
    def step(self) -> Step: ...

    @property
    def rounds(self) -> int:
        """How often a block of this step was gone through since the flow arrived at it."""
        ...

    @property
    def items(self) -> Json:
        """What was kept when its block was entered first."""
        ...

    async def resolved(self, value: Json) -> Json:
        """The same with every template in it evaluated."""
        ...

    async def value(self, expression: Expression) -> Json: ...


Take = Callable[[Turn], Awaitable[Move]]
