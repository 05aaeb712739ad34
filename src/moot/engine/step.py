"""One step of a definition, and what may come of it when a flow arrives there: the contract of all kinds of steps.

A kind is asked what to do (`take`), with everything that its expressions come to. It changes nothing by itself: it
answers with a move, and whoever advances the flow makes it. What has to be done by somebody (a command, an agent, a
person) is a move, too; what came of it is given to the kind (`finish`), which answers with the next.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.core.text import sentence
from moot.engine.expressions.template import Expression
from moot.engine.state.operations import Update

if TYPE_CHECKING:
    from moot.core.yaml import Path  # with what reads YAML, which few need who ask how a flow stands

Ending = Literal["success", "failed"]
Spell = Callable[[Expression, Json], str]  # how the value of an expression stands in a text


class StepFailed(MootError):
    """A step could not be taken. `updates` are what is to be written all the same, such as why it failed."""

    code = "STEP_FAILED"

    def __init__(self, fact: str, remedy: str = "", updates: tuple[Update, ...] = ()) -> None:
        super().__init__(sentence(fact), remedy)
        self.updates = updates


@record
class Step:
    """`detail` is what its kind makes of what it says; `blocks` are the steps inside it, by their key."""

    name: str  # its id, or its place in its block
    type: str
    detail: Any = None
    blocks: Mapping[str, tuple["Step", ...]] = field(default_factory=dict[str, tuple["Step", ...]])
    place: "Path" = ()
    is_loop: bool = False
    line: int = 0  # of its file, where it begins

    @property
    def runs_commands(self) -> bool:
        """Whether it, or one inside it, is a command that moot runs."""
        if self.type == "include_workflow":  # whose tasks count, too
            return self.detail.definition is not None and self.detail.definition.runs_commands
        return self.type == "shell_command" or any(one.runs_commands for block in self.blocks.values() for one in block)


@record
class Work:
    """What somebody has to do at a step, with everything resolved: whoever does it decides nothing.

    `type` and `definition` are what agents are given: `shell_command` with its `command`, `mcp_call` with `method` and
    `params`, `parallel_tasks` with `tasks`, and so on."""

    type: str
    instructions: str
    definition: Mapping[str, Json] = field(default_factory=dict[str, Json])
    replacements: Mapping[str, Json] = field(default_factory=dict[str, Json])  # what stood in braces, and its value
    original: str = ""  # the expression whose value is part of the definition
    then: Json = None  # where the flow goes on, if that is not behind the step
    inside: str = ""  # the prefix of the fields that are meant, in an included workflow
    refused: str = ""  # the mark of what an agent has said to it and would not do, until it is handed out again


@record
class Outcome:
    """What came of the work. Of a command the result is `{stdout, stderr, exit_code}`; an agent may report anything."""

    status: Ending = "success"
    result: Json = None
    error: str = ""
    is_final: bool = False  # to have it done again would come to the same


@record
class Next:
    """It is done: write this, and go on behind it."""

    updates: tuple[Update, ...] = ()
    warning: str = ""
    keeps: Mapping[str, Json] = field(default_factory=dict[str, Json])  # names that later expressions know


@record
class Enter:
    """Go through one of its blocks, then come back to it."""

    block: str
    items: Json = None  # kept while the loop goes on, from which each round has its own


@record
class Include:
    """Go through the workflow inside it, which has a state of its own, then come back to it."""

    inputs: Mapping[str, Json]


@record
class Do:
    """Somebody has to do this first."""

    work: Work


@record
class Again:
    """What was done has failed and is to be done once more, after a while."""

    after: timedelta = timedelta()
    error: str = ""


@record
class Leave:
    """Out of the loop around it, or on to its next round."""

    is_over: bool


@record
class Exit:
    """The flow ends here."""

    status: Ending = "success"
    reason: str = ""


Move = Next | Enter | Include | Do | Again | Leave | Exit


@record
class Resolved:
    """A value with every template in it evaluated, and what each of them came to, by how it stands there."""

    value: Json
    replacements: Mapping[str, Json] = field(default_factory=dict[str, Json])


class Visit(Protocol):
    """A flow at a step."""

    @property
    def step(self) -> Step: ...

    @property
    def called(self) -> str:
        """What people know the step by: its id, or the way to it."""
        ...

    @property
    def rounds(self) -> int:
        """How often a block of this step was gone through since the flow arrived at it."""
        ...

    @property
    def items(self) -> Json:
        """What was kept when its block was entered first."""
        ...

    @property
    def tries(self) -> int:
        """How often its work was done since the flow arrived at it."""
        ...

    @property
    def included(self) -> Mapping[str, str]:
        """The fields of the workflow inside it, once that was gone through: JSON text by key."""
        ...

    @property
    def trouble(self) -> Mapping[str, Json] | None:
        """Why the workflow inside it has failed, once it has done what follows that."""
        ...

    def asked(self, task: str) -> Mapping[str, Json] | None:
        """What a sub-agent's task asks for, each with what stands in for it; None if there is no such task."""
        ...

    async def resolved(self, value: Json, own: Mapping[str, Json] | None = None) -> Json:
        """The same with every template in it evaluated; `own` are further names, such as `result`."""
        ...

    async def resolve(self, value: Json, spell: Spell | None = None) -> Resolved: ...

    async def value(self, expression: Expression, own: Mapping[str, Json] | None = None) -> Json: ...


Take = Callable[[Visit], Awaitable[Move]]
Finish = Callable[[Visit, Outcome], Awaitable[Move]]
