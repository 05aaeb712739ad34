"""Advance: one step of a flow, from where it is to where it is then. Nothing is stored here, nor done outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from moot.core import json
from moot.core.json import Json
from moot.core.records import record
from moot.engine import frames as positions
from moot.engine import kinds, resolving
from moot.engine.definition import Definition
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.expressions.template import Expression
from moot.engine.frames import Frames
from moot.engine.resolving import View
from moot.engine.state import reactive
from moot.engine.state.fields import Fields
from moot.engine.state.reactive import Change
from moot.engine.step import Enter, Exit, Leave, Next, Step, StepFailed

LOOP = "loop."  # keys of what loops go through: kept with the state, and seen by nobody else


@record
class Standing:
    """Where a flow is and what it knows. Without frames it is over."""

    fields: Fields
    frames: Frames = positions.START
    exit: Exit | None = None

    @property
    def is_over(self) -> bool:
        return not self.frames


@record
class Advanced:
    """What one step came to."""

    after: Standing
    change: Change = field(default_factory=Change)
    step_id: str = ""  # of the step that was taken; empty where only a block has ended
    warning: str = ""


async def advance(
    evaluator: Evaluator, definition: Definition, before: Standing, own: Mapping[str, str] | None = None
) -> Advanced:
    """`own` are names that expressions see besides the state: JSON text, such as `inputs`."""
    frames = before.frames
    if frames[-1].at >= len(definition.block(frames)):
        return Advanced(_ended(before))
    turn = _Turn(evaluator, definition, before, own or {})
    move = await kinds.take(turn)
    change, after = Change(), before
    match move:
        case Next():
            if move.updates:
                change = await reactive.update(evaluator, definition.schema, before.fields, move.updates)
            after = Standing(change.over(before.fields), positions.on(frames))
        case Enter():
            change = Change({turn.loop_key: json.dumps(move.items)}) if move.items is not None else change
            after = Standing(change.over(before.fields), positions.into(frames, move.block))
        case Leave():
            after = Standing(before.fields, _left(definition, frames, move))
        case Exit():
            after = Standing(before.fields, (), move)
    warning = move.warning if isinstance(move, Next) else ""
    return Advanced(after, change, turn.id, warning=warning)


def _ended(before: Standing) -> Standing:
    """A block is gone through: back to the step that it belongs to, or the flow is over."""
    if len(before.frames) == 1:
        return Standing(before.fields, (), Exit())
    return Standing(before.fields, positions.back(before.frames))


def _left(definition: Definition, frames: Frames, move: Leave) -> Frames:
    trail = definition.trail(frames)
    depth = next((at for at in range(len(trail) - 2, -1, -1) if trail[at].is_loop), None)
    if depth is None:
        raise StepFailed(f"{definition.step_id(frames)} is in no loop.", "Leave it out.")
    inside = frames[: depth + 2]
    return positions.on(inside[:-1]) if move.is_over else positions.back(inside)


@dataclass(frozen=True, slots=True)
class _Turn:
    evaluator: Evaluator
    definition: Definition
    standing: Standing
    given: Mapping[str, str]

    @property
    def step(self) -> Step:
        return self.definition.trail(self.standing.frames)[-1]

    @property
    def id(self) -> str:
        return self.definition.step_id(self.standing.frames)

    @property
    def rounds(self) -> int:
        return self.standing.frames[-1].rounds

    @property
    def loop_key(self) -> str:
        return _loop_key(self.definition, self.standing.frames)

    @property
    def items(self) -> Json:
        text = self.standing.fields.get(self.loop_key)
        return None if text is None else json.loads(text)

    async def resolved(self, value: Json) -> Json:
        return await resolving.resolve(self.evaluator, self._view, value)

    async def value(self, expression: Expression) -> Json:
        return await resolving.evaluated(self.evaluator, self._view, expression)

    @property
    def _view(self) -> View:
        return View(self.standing.fields, self.definition.schema, {**self.given, **self._of_loops()})

    def _of_loops(self) -> dict[str, str]:
        """The item and the place of every loop that this is in, the innermost last."""
        own: dict[str, str] = {}
        frames = self.standing.frames
        for depth, step in enumerate(self.definition.trail(frames)[:-1]):
            if step.is_loop:
                own["index"] = str(frames[depth].rounds)
                key = _loop_key(self.definition, frames[: depth + 1])
                if key in self.standing.fields:
                    items = json.loads(self.standing.fields[key])
                    assert isinstance(items, Sequence)
                    own["item"] = json.dumps(items[frames[depth].rounds])
        return own


def _loop_key(definition: Definition, frames: Frames) -> str:
    return LOOP + ".".join(step.name for step in definition.trail(frames))
