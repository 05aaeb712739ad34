"""Advance: one step of a flow, from where it is to where it is then. Nothing is stored here, nor done outside."""

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta

from moot.core import json
from moot.core.records import record
from moot.engine import frames as positions
from moot.engine import kinds
from moot.engine.definition import Definition
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow import beginning, failure
from moot.engine.flow.failure import Failure
from moot.engine.frames import Frames
from moot.engine.scope import FAILED, LOOP, Scope
from moot.engine.state import reactive
from moot.engine.state.fields import Fields
from moot.engine.state.operations import Update
from moot.engine.state.reactive import Change
from moot.engine.step import Again, Do, Enter, Exit, Include, Leave, Move, Next, Outcome, StepFailed, Work
from moot.engine.visit import AtStep


@record
class Footing:
    """Where a strand of a flow is and what the flow knows. Without frames it is over."""

    fields: Fields
    frames: Frames = positions.START
    exit: Exit | None = None
    tries: int = 0  # how often the work of this step was done

    @property
    def is_over(self) -> bool:
        return not self.frames


@record
class Advanced:
    """What one step came to."""

    after: Footing
    change: Change = field(default_factory=Change)
    step_id: str = ""  # of the step that was taken; empty where only a block has ended
    warning: str = ""
    work: Work | None = None  # to be done before the flow goes on
    again: timedelta | None = None  # the same work is to be done once more, after so long
    error: str = ""  # why
    updates: tuple[Update, ...] = ()  # what it was asked to write


async def advance(
    evaluator: Evaluator, definition: Definition, before: Footing, own: Mapping[str, str] | None = None
) -> Advanced:
    """`own` are names that expressions see besides the state: JSON text, such as `inputs`."""
    visit = _turn(evaluator, definition, before, own)
    if visit.scope.is_at_end:
        return Advanced(_ended(before))
    return await _made(visit, before, await kinds.take(visit))


async def finish(
    evaluator: Evaluator,
    definition: Definition,
    before: Footing,
    outcome: Outcome,
    own: Mapping[str, str] | None = None,
) -> Advanced:
    """The work of the step where the flow stands was done."""
    visit = _turn(evaluator, definition, before, own)
    return await _made(visit, before, await kinds.finish(visit, outcome))


async def failed(
    evaluator: Evaluator,
    definition: Definition,
    before: Footing,
    error: StepFailed,
    own: Mapping[str, str] | None = None,
) -> Advanced:
    """The step where the flow stands has failed: it stays there, with what was to be written all the same."""
    visit = _turn(evaluator, definition, before, own)
    change = await _written(visit, Next(error.updates))
    after = Footing(change.over(before.fields), before.frames, tries=before.tries)
    id = step_of(definition, before)
    return Advanced(after, change, id, error=str(error), updates=error.updates)


def step_of(definition: Definition, before: Footing) -> str:
    """The id of the step where a flow stands, also if that could not be taken."""
    return definition.step_id(before.frames)


def past(definition: Definition, before: Footing) -> Advanced:
    """Behind the step where it stands, whatever became of that."""
    return Advanced(Footing(before.fields, positions.on(before.frames)), step_id=step_of(definition, before))


def _turn(evaluator: Evaluator, definition: Definition, before: Footing, own: Mapping[str, str] | None) -> AtStep:
    scope = Scope.at(definition, before.frames, before.fields, own or {})
    return AtStep(evaluator, scope, before.fields, before.tries)


async def _made(visit: AtStep, before: Footing, move: Move) -> Advanced:
    scope, frames = visit.scope, before.frames
    id = scope.step_id
    match move:
        case Next():
            change = await _written(visit, move)
            after = Footing(change.over(before.fields), positions.on(frames))
            return Advanced(after, change, id, move.warning, updates=move.updates)
        case Enter():
            change = Change({scope.key(LOOP): json.dumps(move.items)}) if move.items is not None else Change()
            return Advanced(Footing(change.over(before.fields), positions.into(frames, move.block)), change, id)
        case Include():
            change = await _opened(visit, before.fields, move)
            return Advanced(Footing(change.over(before.fields), positions.into(frames, positions.WORKFLOW)), change, id)
        case Do():
            return Advanced(before, step_id=id, work=move.work)
        case Again():
            after = Footing(before.fields, frames, tries=before.tries + 1)
            return Advanced(after, step_id=id, again=move.after, error=move.error)
        case Leave():
            return Advanced(Footing(before.fields, _left(scope.outermost, frames, move)), step_id=id)
        case Exit() if scope.depth > positions.root(frames):
            change = Change() if move.status == "success" else _unsuccessful(visit, move)
            after = Footing(change.over(before.fields), positions.back(frames[: scope.depth + 1]))
            return Advanced(after, change, id)
        case Exit():
            return Advanced(Footing(before.fields, (), move), step_id=id)


async def _written(visit: AtStep, move: Next) -> Change:
    """What it writes, with what follows from that."""
    change, scope = Change(), visit.scope
    if move.updates:
        found = await reactive.update(visit.evaluator, scope.definition.schema, scope.fields, move.updates)
        change = found.inside(scope.prefix)
    if not move.keeps:
        return change
    kept = {scope.kept(name): json.dumps(value) for name, value in move.keeps.items()}
    return Change({**change.fields, **kept}, change.traces)


async def _opened(visit: AtStep, fields: Fields, move: Include) -> Change:
    """The state of an included workflow as it begins, in place of what an earlier round of it has left."""
    inner = visit.scope.inner
    begun = await beginning.state(visit.evaluator, inner.definition, beginning.given(inner.definition, move.inputs))
    gone: dict[str, str | None] = {key: None for key in fields if key.startswith(inner.prefix)}
    return Change(gone).then(begun.inside(inner.prefix))


def _unsuccessful(visit: AtStep, move: Exit) -> Change:
    """An included workflow ends as failed because it says so: that is what has failed, and not a step in it."""
    scope = visit.scope
    error = StepFailed(move.reason or f"{scope.definition.name} has ended as failed.")
    found = Failure(error.code, error.fact, error.remedy, scope.step_id, scope.frames)
    return Change({scope.prefix + FAILED: json.dumps(failure.to_json(found))})


def _ended(before: Footing) -> Footing:
    """A block is gone through: back to the step that it belongs to, or the strand is over."""
    if positions.root(before.frames) == len(before.frames) - 1:
        return Footing(before.fields, (), Exit())
    return Footing(before.fields, positions.back(before.frames))


def _left(definition: Definition, frames: Frames, move: Leave) -> Frames:
    trail = definition.trail(frames)
    own = range(len(trail) - 2, positions.root(frames) - 1, -1)
    depth = next((at for at in own if trail[at].is_loop), None)
    if depth is None:
        raise StepFailed(f"{definition.step_id(frames)} is in no loop.", "Leave it out.")
    inside = frames[: depth + 2]
    return positions.on(inside[:-1]) if move.is_over else positions.back(inside)
