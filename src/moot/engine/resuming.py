"""Going on with a flow that has failed, as its definition says: at the failed step, behind it, or from the start."""

from moot.core.records import replace
from moot.core.tx import Tx
from moot.engine import flows, forks, frames, strands
from moot.engine.definition import Definition
from moot.engine.flows import Flow
from moot.engine.frames import Frames
from moot.engine.scope import INPUTS
from moot.engine.strands import MAIN, Strand, moved
from moot.engine.trouble import FAILED_AT


def resume(tx: Tx, flow: Flow, definition: Definition) -> bool:
    """False if it has not failed. What its tasks were doing is begun anew with the step that they belong to."""
    known = flows.fields(tx, flow.id)
    status = "in_progress" if INPUTS in known else "starting"  # which it could not even begin
    if not flows.reopen(tx, flow, status, resets_retries=definition.resumption.resets_counts):
        return False
    main = strands.get(tx, flow.id, MAIN)
    own = {name: value for name, value in main.own.items() if name not in ("error", FAILED_AT)}
    strands.put(tx, replace(moved(main, _where(main, definition)), own=own, error=""))
    if definition.resumption.retries_failed and definition.resumption.skips_completed:
        _again(tx, flow)
    return True


def _again(tx: Tx, flow: Flow) -> None:
    """Tasks for which nobody waits belong to no step that is taken again: those that have failed are."""
    known = strands.all_of(tx, flow.id)
    for one in known:
        if one.is_detached and one.status == "failed" and one.work is not None:
            strands.put(tx, replace(one, status="forked", error=""))
            tasks = [task for task in known if (task.parent, task.fork) == (one.number, one.since)]
            for task in tasks:
                if task.status == "failed":
                    strands.put(tx, forks.anew(one.work, task))


def _where(main: Strand, definition: Definition) -> Frames:
    how = definition.resumption
    failed_at = frames.from_json(main.own[FAILED_AT]) if FAILED_AT in main.own else main.frames
    if not how.skips_completed:
        return frames.START
    return failed_at if how.retries_failed else frames.on(failed_at)
