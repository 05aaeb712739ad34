"""Changes of state that the agent who drives a flow makes itself: each is handed to it with its values, and made once,
by whichever comes first of its own update and its word that the step is done."""

from collections.abc import Mapping, Sequence
from typing import cast

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import replace
from moot.engine import frames
from moot.engine.definition import Definition
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow import advance
from moot.engine.flow.advance import Advanced, Footing
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.strands import Strand, moved
from moot.engine.scope import Scope
from moot.engine.state import operations, paths, reactive
from moot.engine.state.operations import Operation, Update
from moot.engine.state.reactive import Change
from moot.engine.step import Work
from moot.engine.steps import updating

TYPE = "state_update"
_MOST = 1000  # updates in one step
_WORDS = "Make these updates of the state. Their values are final: compute nothing."


def is_update(definition: Definition, footing: Footing, done: Advanced) -> bool:
    trail = definition.trail(footing.frames)
    return bool(trail) and trail[-1].type == TYPE and bool(done.updates) and not footing.is_over


async def update(evaluator: Evaluator, live: Live, strand: Strand, done: Advanced) -> Delta:
    """The update where the strand stands; in a loop that does nothing else, those of its further rounds, too."""
    made, after = await _gathered(evaluator, live, strand, done)
    work = Work(
        TYPE,
        _WORDS,
        {"updates": [written(one) for one in made]},
        original=updating.original(live.definition.trail(strand.frames)[-1]),
        then=frames.to_json(after.frames),
        inside=Scope.at(live.definition, strand.frames, {}, {}).prefix,
    )
    given = replace(
        moved(strand, strand.frames), status="given", step_id=done.step_id, work=work, since=live.flow.version + 1
    )
    return Delta(strands=(given,))


async def _gathered(
    evaluator: Evaluator, live: Live, strand: Strand, done: Advanced
) -> tuple[tuple[Update, ...], Footing]:
    made, after = done.updates, done.after
    loop = _bare_loop(live.definition, strand)
    own = live.own(strand)
    while loop and len(made) < _MOST:
        try:
            further = await advance.advance(evaluator, live.definition, after, own)
        except MootError:  # so far it was well: that first
            break
        if len(further.after.frames) <= loop and further.step_id:  # the loop was left
            break
        made, after = (*made, *further.updates), further.after
    return made, after


def _bare_loop(definition: Definition, strand: Strand) -> int:
    """How deep the loop around lies that has nothing but updates in it; 0 if there is none."""
    trail = definition.trail(strand.frames)
    if len(trail) < 2 or trail[-2].type != "foreach":
        return 0
    is_bare = all(one.type == TYPE for one in trail[-2].blocks["steps"])
    return len(trail) - 1 if is_bare else 0


async def applied(evaluator: Evaluator, live: Live, strand: Strand) -> Change:
    """What the updates in hand come to."""
    return await written_at(evaluator, live, strand, updates_of(strand))


async def written_at(evaluator: Evaluator, live: Live, strand: Strand, updates: Sequence[Update]) -> Change:
    """What updates come to in the workflow where a strand is: in an included one the state is another."""
    scope = Scope.at(live.definition, strand.frames, live.fields, {})
    found = await reactive.update(evaluator, scope.definition.schema, scope.fields, updates)
    return found.inside(scope.prefix)


def updates_of(strand: Strand) -> list[Update]:
    assert strand.work is not None
    return [read(one) for one in cast(list[Mapping[str, Json]], strand.work.definition["updates"])]


def read(said: Mapping[str, Json]) -> Update:
    """As agents write it."""
    operation = cast(Operation, said.get("operation") or "set")
    value = operations.meant(operation, said.get("value"))
    return Update(paths.writable(paths.parse(str(said["path"]))), operation, value)


def written(one: Update) -> dict[str, Json]:
    return {"path": str(one.path), "operation": one.operation, "value": one.value}
