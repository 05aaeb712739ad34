"""A step of an included workflow has failed: what that workflow says of it. What it does not take care of, the step
that includes it has failed of."""

from moot.core import json
from moot.core.errors import MootError
from moot.core.records import replace
from moot.engine import frames
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow import beginning, failure, forks
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.failure import Failure
from moot.engine.flow.strands import Strand, moved
from moot.engine.frames import ON_FAILURE, WORKFLOW, Frames
from moot.engine.scope import FAILED, INPUTS, RETRIES, Scope
from moot.engine.state.reactive import Change


def around(live: Live, strand: Strand) -> list[Scope]:
    """The included workflows that a strand is in, the innermost first; also one that it has just left as failed."""
    if strand.is_detached:
        return []
    way, here = strand.frames, Scope.at(live.definition, strand.frames, {}, {})
    if here.trail[-1].type == "include_workflow" and here.inner.prefix + FAILED in live.fields:
        way = frames.into(way, ON_FAILURE)
    return Scope.around(live.definition, way, live.fields)


def kept(scope: Scope) -> Failure:
    """Why a workflow does what follows its failure."""
    return failure.from_json(json.loads(scope.fields[FAILED]))


def forgotten(scope: Scope) -> Change:
    return Change({scope.prefix + FAILED: None})


async def handled(
    evaluator: Evaluator, live: Live, strand: Strand, scope: Scope, why: Failure, place: Frames
) -> Delta | None:
    """None if the workflow leaves it to whoever includes it."""
    errors = scope.definition.errors
    if errors.on_error == "continue":
        return Delta(strands=(moved(strand, frames.on(place)),))
    if errors.on_error == "retry_workflow" and int(scope.fields.get(RETRIES, "0")) < errors.most_retries:
        return await _anew(evaluator, live, strand, scope)
    if not errors.on_failure:
        return None
    begin = moved(strand, frames.into(scope.frames[: scope.depth], ON_FAILURE))
    return Delta({scope.prefix + FAILED: json.dumps(failure.to_json(why))}, (begin,))


async def _anew(evaluator: Evaluator, live: Live, strand: Strand, scope: Scope) -> Delta | None:
    """From its beginning, with nothing of what it knew but what it was given."""
    inputs = json.load_object(scope.fields[INPUTS])
    try:
        begun = await beginning.state(evaluator, scope.definition, inputs)
    except MootError:  # it cannot even begin: what it has failed of first counts
        return None
    gone: dict[str, str | None] = {key: None for key in live.fields if key.startswith(scope.prefix)}
    count = {scope.prefix + RETRIES: str(int(scope.fields.get(RETRIES, "0")) + 1)}
    change = begun.inside(scope.prefix)
    way = scope.frames[: scope.depth]
    lost = [one for one in live.others if one.number != strand.number and one.frames[: scope.depth] == way]
    begin = moved(strand, frames.into(way, WORKFLOW))
    ended = (forks.over(replace(one, work=None), "Its workflow has begun anew.") for one in lost)
    return Delta({**gone, **change.fields, **count}, (begin, *ended), traces=change.traces)
