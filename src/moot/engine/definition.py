"""A definition: the steps of a workflow file and the state that they work on, as plain records."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Literal

from moot.core.json import Json
from moot.core.records import record
from moot.engine import frames as positions
from moot.engine.field_type import FieldType
from moot.engine.frames import CLEANUP, FAILURE, TASK, Frames
from moot.engine.state.schema import Schema
from moot.engine.step import Step

OnError = Literal["checkpoint_and_fail", "continue", "retry_workflow"]


@record
class InputField:
    """What the one who starts a flow is asked for."""

    name: str
    type: FieldType = "string"
    is_required: bool = False
    default: Json = None
    description: str = ""
    options: tuple[Json, ...] = ()  # the only values that it may have


@record
class ErrorHandling:
    """What happens when a step has failed and nothing else takes care of it."""

    on_error: OnError = "checkpoint_and_fail"
    most_retries: int = 1  # of the whole flow
    collected_at: str = ""  # a path of the state to which errors are appended
    has_traces: bool = False
    on_failure: tuple[Step, ...] = ()  # steps before it ends


@record
class Resumption:
    """How a flow that has failed goes on."""

    retries_failed: bool = True
    skips_completed: bool = True
    resets_counts: bool = False


@record
class SubTask:
    """What a sub-agent does: steps of their own, over the state that all share."""

    name: str
    inputs: tuple[InputField, ...] = ()
    steps: tuple[Step, ...] = ()
    returns_on_error: bool = True
    cleanup: tuple[Step, ...] = ()  # steps before it is told that it has failed
    prompt: str = ""  # in place of the standard one


@record
class Definition:
    name: str
    steps: tuple[Step, ...] = ()
    schema: Schema = field(default_factory=Schema)
    default_state: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    warnings: tuple[str, ...] = ()
    description: str = ""
    version: str = ""
    inputs: tuple[InputField, ...] = ()
    tasks: Mapping[str, SubTask] = field(default_factory=dict[str, SubTask])
    errors: ErrorHandling = field(default_factory=ErrorHandling)
    resumption: Resumption | None = None  # None: nothing is said of it
    result: str = ""  # a template, evaluated when the flow is over

    @property
    def runs_commands(self) -> bool:
        """Whether moot itself runs commands for it."""
        roots = [self.steps, self.errors.on_failure]
        roots += [steps for task in self.tasks.values() for steps in (task.steps, task.cleanup)]
        return any(step.runs_commands for steps in roots for step in steps)

    def key_of(self, name: str) -> str:
        """Where a name of the flat view is kept: `computed.kept`, `raw.files`."""
        if name in self.schema.computed:
            return f"computed.{name}"
        return f"state.{name}" if name in self.default_state.get("state", ()) else f"raw.{name}"

    def root(self, name: str) -> tuple[Step, ...]:
        """Where a strand begins: the steps of the file itself, of a sub-agent's task, or those after a failure."""
        if not name:
            return self.steps
        block = positions.plain(name)
        if block.startswith(TASK):
            return self.tasks[block.removeprefix(TASK)].steps
        if block.startswith(CLEANUP):
            return self.tasks[block.removeprefix(CLEANUP)].cleanup
        return self.errors.on_failure if block == FAILURE else self.steps

    def task(self, frames: Frames) -> SubTask:
        """What the strand does that is on this way."""
        at = positions.root(frames)
        owner: Definition = self if at == 0 else self.trail(frames[:at])[-1].detail.definition
        return owner.tasks[positions.plain(frames[at].block).partition("/")[2]]

    def block(self, frames: Frames) -> tuple[Step, ...]:
        """The steps of the innermost block."""
        steps = self.root(frames[0].block)
        for outer, inner in pairwise(frames):
            steps = _inside(steps[outer.at], inner.block)
        return steps

    def trail(self, frames: Frames) -> list[Step]:
        """The steps that a flow is at, the outermost first; none at the end of a block."""
        found: list[Step] = []
        steps = self.root(frames[0].block)
        for at, frame in enumerate(frames):
            if frame.at >= len(steps):
                break
            found.append(steps[frame.at])
            if at + 1 < len(frames):
                steps = _inside(steps[frame.at], frames[at + 1].block)
        return found

    def step_id(self, frames: Frames) -> str:
        return step_id(self.trail(frames), frames)


def step_id(trail: Sequence[Step], frames: Frames) -> str:
    """`fix_errors.then.1.state_update`; a round of a loop is `retry.body[2].0.shell_command`."""
    begin = positions.root(frames)
    before = _after_failure(frames[begin].block)
    if len(frames) == 1:
        return f"{before}{trail[0].name}.{trail[0].type}"
    own = trail[begin:]
    parts = [before + own[0].name]
    for (around, step), (outer, inner) in zip(pairwise(own), pairwise(frames[begin:]), strict=False):
        parts += [f"{inner.block}[{outer.rounds + 1}]" if around.is_loop else inner.block, step.name]
    return ".".join((*parts, own[-1].type))


def _inside(step: Step, block: str) -> tuple[Step, ...]:
    """A block of a step; strands of an included workflow begin at roots of that."""
    if not positions.is_root(block):
        return step.blocks[block]
    included: Definition = step.detail.definition
    return included.root(block)


def _after_failure(root: str) -> str:
    """Before the ids of steps that follow a failure, which must not be taken for those of the step that has failed."""
    return "failure." if root == FAILURE else "cleanup." if root.startswith(CLEANUP) else ""
