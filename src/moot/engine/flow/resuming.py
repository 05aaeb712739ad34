"""Going on with a flow that has failed, as its definition says: at the failed step, behind it, or from the start. Of an
included workflow in which it has failed the same is said by that one, or else by whoever includes it."""

from collections.abc import Sequence

from moot.core import json
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.engine import frames
from moot.engine.definition import Definition, Resumption
from moot.engine.flow import failure, flows, forks, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import MAIN, TASKS, Strand, moved
from moot.engine.frames import WORKFLOW, Frames
from moot.engine.scope import FAILED, INPUTS, RETRIES, Scope
from moot.engine.state.fields import Fields


@record
class _Way:
    """How the first strand goes on."""

    place: Frames
    is_tried_again: bool  # at the step that has failed, and nowhere else
    resets_counts: bool  # of the whole flow
    gone: tuple[str, ...]  # fields that nobody needs any more


def resume(tx: Tx, flow: Flow, definition: Definition) -> bool:
    """False if it has not failed. Of its tasks those that are done stay done."""
    fields, first = flows.fields(tx, flow.id), strands.get(tx, flow.id, MAIN)
    main = _stood(first, definition, fields)
    way = _way(main, definition, fields)
    status = "in_progress" if INPUTS in fields else "starting"  # which it could not even begin
    if not flows.reopen(tx, flow, status, resets_retries=way.resets_counts):
        return False
    if first.is_over:  # else it was left where it was, and goes on there
        flows.write_fields(tx, flow.id, flow.version + 1, dict.fromkeys(way.gone))
        _go_on(tx, flow, main, way)
    return True


def _go_on(tx: Tx, flow: Flow, main: Strand, way: _Way) -> None:
    known = [main, *(one for one in strands.all_of(tx, flow.id) if one.number != MAIN)]
    waiting = [one for one in known if way.is_tried_again and _has_failed_tasks(one)]
    for one in waiting:
        _try_again(tx, flow, one, known)
    if main not in waiting:
        strands.put(tx, replace(moved(main, way.place), error=""))


def helps(tx: ReadTx, flow: Flow, definition: Definition) -> bool:
    """Whether a flow that has failed can come to anything else if it is resumed: something is done anew then, and not
    the same evaluated from the same state."""
    main = strands.get(tx, flow.id, MAIN)
    if any(one.is_detached and _has_failed_tasks(one) for one in strands.all_of(tx, flow.id)):
        return True
    fields = flows.fields(tx, flow.id)
    stood = _stood(main, definition, fields)
    way = _way(stood, definition, fields)
    return not main.is_over or bool(stood.step_id) or not way.is_tried_again


def _stood(main: Strand, definition: Definition, fields: Fields) -> Strand:
    """The first strand where it has failed, without what has followed that."""
    found = main.own.get(failure.NAME)
    if found is None:
        after = [one for one in Scope.around(definition, main.frames, fields) if one.is_after_failure]
        found = json.loads(after[-1].fields[FAILED]) if after else None
    own = {name: value for name, value in main.own.items() if name not in ("error", failure.NAME)}
    return replace(main if found is None else failure.from_json(found).standing(main), own=own)


def _way(main: Strand, definition: Definition, fields: Fields) -> _Way:
    how = first = definition.resumption or Resumption()
    if not how.skips_completed:
        return _Way(frames.START, False, first.resets_counts, ())
    gone: list[str] = []
    for scope in reversed(Scope.around(definition, main.frames, fields)):
        how = scope.definition.resumption or how
        gone += [scope.prefix + FAILED, *([scope.prefix + RETRIES] if how.resets_counts else [])]
        if not how.skips_completed:
            begin = frames.into(scope.frames[: scope.depth], WORKFLOW)
            return _Way(begin, False, first.resets_counts, tuple(gone))
    place = main.frames if how.retries_failed else frames.on(main.frames)
    return _Way(place, how.retries_failed, first.resets_counts, tuple(gone))


def _has_failed_tasks(strand: Strand) -> bool:
    """Whether it has failed with tasks that it waited for: then those can be tried again that are not done."""
    is_over = strand.number == MAIN or (strand.is_detached and strand.status == "failed")
    return is_over and strand.work is not None and strand.work.type == TASKS


def _try_again(tx: Tx, flow: Flow, waiting: Strand, known: Sequence[Strand]) -> None:
    """The tasks that it waits for and that have failed, from their beginning."""
    assert waiting.work is not None
    is_agents = flow.driver == "agent" and not waiting.is_detached
    strands.put(tx, replace(waiting, status="pending" if is_agents else "forked", error=""))
    for task in known:
        if (task.parent, task.fork) == (waiting.number, waiting.since) and task.status == "failed":
            strands.put(tx, forks.anew(waiting.work, task))
