"""A step has failed, and its own rules do not take care of it: what the definition says of that. Where the step is in
an included workflow, that one is asked first, then whatever includes it."""

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import replace
from moot.engine import frames
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow import advance, failure, forks, inner_trouble
from moot.engine.flow.advance import Footing
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.failure import Failure
from moot.engine.flow.history import Doer, Taken
from moot.engine.flow.strands import MAIN, Strand, moved
from moot.engine.frames import CLEANUP, FAILURE, TASK, Frame, Frames
from moot.engine.scope import Scope
from moot.engine.state import paths, reactive
from moot.engine.state.operations import Update
from moot.engine.state.reactive import Change
from moot.engine.step import Step, StepFailed


async def failed(evaluator: Evaluator, live: Live, strand: Strand, error: MootError, doer: Doer = "moot") -> Delta:
    """The step where the strand stands has failed for good."""
    step_id = live.definition.step_id(strand.frames)
    step = live.definition.trail(strand.frames)[-1]
    why = _placed(failure.of(error, step_id, strand), step)
    taken = Taken(strand.number, step_id, step.type, doer, "failed", error=str(why), started_at=strand.given_at)
    written = await _written(evaluator, live, strand, error)
    known = replace(live, fields=written.over(live.fields))
    after = await _passed_on(evaluator, known, strand, why)
    return replace(
        after,
        fields={**written.fields, **after.fields},
        taken=(taken, *after.taken),
        traces=(*written.traces, *after.traces),
    )


def _placed(why: Failure, step: Step) -> Failure:
    """With where it is, unless it says so: what went wrong inside of a step does not know that."""
    called = why.step_id if step.name.isdigit() else step.name
    said = f" {why.message}"
    is_named = said.startswith((f" {called} ", f" {called}:")) or f" {called} failed: " in said
    is_of_another = step.type == "include_workflow" and why.code == StepFailed.code  # which has said it
    if is_named or is_of_another:
        return why
    return replace(why, message=f"{why.step_id} (line {step.line}): {why.message}")


async def _written(evaluator: Evaluator, live: Live, strand: Strand, error: MootError) -> Change:
    """What a step wants to be written although it has failed: why, say."""
    if not isinstance(error, StepFailed) or not error.updates:
        return Change()
    footing = Footing(live.fields, strand.frames, tries=strand.tries)
    own = live.own(strand)
    try:
        return (await advance.failed(evaluator, live.definition, footing, error, own)).change
    except MootError:  # the state does not take it: the failure itself counts more
        return Change()


async def _passed_on(evaluator: Evaluator, live: Live, strand: Strand, why: Failure) -> Delta:
    """From the innermost workflow outwards, to the first that takes care of it."""
    change, place = Change(), strand.frames  # which step of each workflow it is
    for scope in inner_trouble.around(live, strand):
        if scope.is_after_failure:  # what was to follow a failure is done, or has failed itself: that one counts
            why, change = inner_trouble.kept(scope), change.then(inner_trouble.forgotten(scope))
        else:
            change = change.then(await _collected(evaluator, live, scope, why))
            known = replace(live, fields=change.over(live.fields))
            found = await inner_trouble.handled(evaluator, known, strand, scope, why, place)
            if found is not None:
                return _with(change, found)
        place = scope.frames[: scope.depth]
    whole = Scope.whole(live.definition, live.fields, {})
    change = change.then(await _collected(evaluator, live, whole, why))
    return _with(change, _after(live, strand, why, place))


async def _collected(evaluator: Evaluator, live: Live, scope: Scope, why: Failure) -> Change:
    """Where a definition wants errors in its state, this is one more."""
    errors = scope.definition.errors
    if not errors.collected_at:
        return Change()
    told: dict[str, Json] = {**why.told, "type": why.code}
    if errors.has_traces:
        way = live.definition.trail(why.frames)
        told["stack_trace"] = [f"{one.name} ({one.type}, line {one.line})" for one in way]
    update = Update(paths.writable(paths.parse(errors.collected_at)), "append", told)
    try:
        found = await reactive.update(evaluator, scope.definition.schema, scope.fields, [update])
    except MootError:  # the state does not take it: the failure itself counts more
        return Change()
    return found.inside(scope.prefix)


def _with(change: Change, delta: Delta) -> Delta:
    return replace(delta, fields={**change.fields, **delta.fields}, traces=(*change.traces, *delta.traces))


def _after(live: Live, strand: Strand, why: Failure, place: Frames) -> Delta:
    if strand.is_detached:
        return _of_detached(live, strand, why)
    root = strand.frames[frames.root(strand.frames)].block
    if root == FAILURE or root.startswith(CLEANUP):  # what was to follow a failure has failed itself
        return ended(live, strand, strand.error or why.message)
    if root.startswith(TASK):
        return _of_task(live, strand, why, place)
    return _of_flow(live, strand, why, place)


def _of_detached(live: Live, strand: Strand, why: Failure) -> Delta:
    """Nobody waits for these tasks, but that they fail is no less a failure of the flow."""
    lost = (replace(strand, status="failed", error=str(why)), *forks.given_up(live, strand))
    main = live.main
    around = (live.definition, *(one.definition for one in Scope.around(live.definition, strand.frames, live.fields)))
    if main.frames[0].block == FAILURE or any(one.errors.on_error == "continue" for one in around):
        return Delta(strands=lost)
    delta = _of_flow(live, main, why.of_strand(main), main.frames)
    known = {one.number for one in lost}
    return (
        delta
        if delta.is_anew
        else replace(delta, strands=(*(one for one in delta.strands if one.number not in known), *lost))
    )


def _of_flow(live: Live, strand: Strand, why: Failure, place: Frames) -> Delta:
    errors = live.definition.errors
    if errors.on_error == "continue":
        return Delta(strands=(moved(strand, frames.on(place)),))
    if errors.on_error == "retry_workflow" and live.flow.retries < errors.most_retries:
        return anew(live)
    if errors.on_failure:
        begin = moved(strand, (Frame(FAILURE),))
        own = {**strand.own, "error": why.told, failure.NAME: failure.to_json(why)}
        return Delta(strands=(replace(begin, own=own, error=str(why)),), checkpoint=str(why))
    return replace(ended(live, why.standing(strand), str(why)), checkpoint=str(why))


def _of_task(live: Live, strand: Strand, why: Failure, place: Frames) -> Delta:
    task = live.definition.task(strand.frames)
    if not task.returns_on_error:
        return Delta(strands=(moved(strand, frames.on(place)),))
    if task.cleanup:
        begin = moved(strand, forks.cleaning(strand))
        return Delta(strands=(replace(begin, own={**strand.own, "error": why.told}, error=why.message),))
    return ended(live, strand, why.message)


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
