"""Going on with a flow that has failed, as its definition says: at the failed step, behind it, or from the start."""

from collections.abc import Sequence

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
    """False if it has not failed. Of its tasks those that are done stay done."""
    known = flows.fields(tx, flow.id)
    status = "in_progress" if INPUTS in known else "starting"  # which it could not even begin
    if not flows.reopen(tx, flow, status, resets_retries=definition.resumption.resets_counts):
        return False
    main = strands.get(tx, flow.id, MAIN)
    known = strands.all_of(tx, flow.id)
    is_tried_again = definition.resumption.retries_failed and definition.resumption.skips_completed
    waiting = [one for one in known if is_tried_again and forks.has_failed_tasks(one)]
    for one in waiting:
        _try_again(tx, flow, one, known)
    if main not in waiting:
        own = {name: value for name, value in main.own.items() if name not in ("error", FAILED_AT)}
        strands.put(tx, replace(moved(main, _where(main, definition)), own=own, error=""))
    return True


def _try_again(tx: Tx, flow: Flow, waiting: Strand, known: Sequence[Strand]) -> None:
    """The tasks that it waits for and that have failed, from their beginning."""
    assert waiting.work is not None
    is_agents = flow.driver == "agent" and not waiting.is_detached
    strands.put(tx, replace(waiting, status="pending" if is_agents else "forked", error=""))
    for task in known:
        if (task.parent, task.fork) == (waiting.number, waiting.since) and task.status == "failed":
            strands.put(tx, forks.anew(waiting.work, task))


def _where(main: Strand, definition: Definition) -> Frames:
    how = definition.resumption
    failed_at = frames.from_json(main.own[FAILED_AT]) if FAILED_AT in main.own else main.frames
    if not how.skips_completed:
        return frames.START
    return failed_at if how.retries_failed else frames.on(failed_at)
