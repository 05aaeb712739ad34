"""A step has failed, and its own rules do not take care of it: what the definition says of that."""

from collections.abc import Mapping

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import replace
from moot.engine import advance, forks, frames
from moot.engine.advance import Standing
from moot.engine.delta import Delta, Live
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.frames import CLEANUP, FAILURE, TASK, Frame
from moot.engine.history import Doer, Taken
from moot.engine.resolving import ExpressionFailed
from moot.engine.state import paths, reactive
from moot.engine.state.operations import Update
from moot.engine.state.reactive import Change
from moot.engine.step import StepFailed
from moot.engine.strands import MAIN, Strand, moved

FAILED_AT = "$failed_at"  # among what a strand knows: where it stood, while it does what follows a failure


async def failed(evaluator: Evaluator, live: Live, strand: Strand, error: MootError, doer: Doer = "moot") -> Delta:
    """The step where the strand stands has failed for good."""
    step_id = live.definition.step_id(strand.frames)
    step = live.definition.trail(strand.frames)[-1]
    if isinstance(error, ExpressionFailed):  # which does not know where it stands
        error = ExpressionFailed(f"{step_id} (line {step.line}): {error.fact}", error.remedy)
    taken = Taken(strand.number, step_id, step.type, doer, "failed", error=str(error), started_at=strand.given_at)
    told: dict[str, Json] = {"code": error.code, "message": error.fact, "remedy": error.remedy, "step_id": step_id}
    written = await _written(evaluator, live, strand, error)
    known = replace(live, fields=written.over(live.fields))
    change = await _collected(evaluator, known, told)
    after = _after(live, strand, error, told)
    return replace(
        after,
        fields={**written.fields, **change.fields},
        taken=(taken, *after.taken),
        traces=(*written.traces, *change.traces),
    )


async def _written(evaluator: Evaluator, live: Live, strand: Strand, error: MootError) -> Change:
    """What a step wants to be written although it has failed: why, say."""
    if not isinstance(error, StepFailed) or not error.updates:
        return Change()
    standing = Standing(live.fields, strand.frames, tries=strand.tries)
    own = live.own(strand)
    try:
        return (await advance.failed(evaluator, live.definition, standing, error, own)).change
    except MootError:  # the state does not take it: the failure itself counts more
        return Change()


def _after(live: Live, strand: Strand, error: MootError, told: Mapping[str, Json]) -> Delta:
    if strand.is_detached:
        return _of_detached(live, strand, error, told)
    root = strand.frames[frames.root(strand.frames)].block
    if root == FAILURE or root.startswith(CLEANUP):  # what was to follow a failure has failed itself
        return ended(live, strand, strand.error or error.fact)
    if root.startswith(TASK):
        return _of_task(live, strand, error, told)
    return _of_flow(live, strand, error, told)


def _of_detached(live: Live, strand: Strand, error: MootError, told: Mapping[str, Json]) -> Delta:
    """Nobody waits for these tasks, but that they fail is no less a failure of the flow."""
    lost = (replace(strand, status="failed", error=str(error)), *forks.given_up(live, strand))
    main = live.main
    if main.frames[0].block == FAILURE or live.definition.errors.on_error == "continue":
        return Delta(strands=lost)
    delta = _of_flow(live, main, error, told)
    known = {one.number for one in lost}
    return (
        delta
        if delta.is_anew
        else replace(delta, strands=(*(one for one in delta.strands if one.number not in known), *lost))
    )


def _of_flow(live: Live, strand: Strand, error: MootError, told: Mapping[str, Json]) -> Delta:
    errors = live.definition.errors
    if errors.on_error == "continue":
        return Delta(strands=(moved(strand, frames.on(strand.frames)),))
    if errors.on_error == "retry_workflow" and live.flow.retries < errors.most_retries:
        return anew(live)
    if errors.on_failure:
        begin = moved(strand, (Frame(FAILURE),))
        own = {**strand.own, "error": told, FAILED_AT: frames.to_json(strand.frames)}
        return Delta(strands=(replace(begin, own=own, error=str(error)),), checkpoint=str(error))
    return replace(ended(live, strand, str(error)), checkpoint=str(error))


def _of_task(live: Live, strand: Strand, error: MootError, told: Mapping[str, Json]) -> Delta:
    task = live.definition.task(strand.frames)
    if not task.returns_on_error:
        return Delta(strands=(moved(strand, frames.on(strand.frames)),))
    if task.cleanup:
        begin = moved(strand, forks.cleaning(strand))
        return Delta(strands=(replace(begin, own={**strand.own, "error": told}, error=error.fact),))
    return ended(live, strand, error.fact)


def ended(live: Live, strand: Strand, error: str) -> Delta:
    """A strand is over, and has failed; the first takes the flow with it."""
    if strand.number != MAIN:
        return Delta(strands=(forks.retried(live, strand, error), *forks.belonging(live, strand)))
    others = tuple(forks.over(one, error) for one in live.others)
    over = forks.over(strand, error)
    return Delta(strands=(over, *others), flow=replace(live.flow, status="failed", error=error))


def anew(live: Live) -> Delta:
    """The whole flow from its beginning, with nothing of what it knew."""
    begin = replace(moved(live.main, frames.START), own={}, error="")
    flow = replace(live.flow, status="starting", retries=live.flow.retries + 1)
    return Delta(strands=(begin,), flow=flow, is_anew=True)


async def _collected(evaluator: Evaluator, live: Live, told: Mapping[str, Json]) -> Change:
    """Where the definition wants errors in its state, this is one more."""
    where = live.definition.errors.collected_at
    if not where:
        return Change()
    update = Update(paths.writable(paths.parse(where)), "append", {**told, "type": told["code"]})
    try:
        return await reactive.update(evaluator, live.definition.schema, live.fields, [update])
    except MootError:  # the state does not take it: the failure itself counts more
        return Change()
