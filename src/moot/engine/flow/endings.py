"""A strand has come to its end; with the last of them the flow has, and its result is what the definition says."""

from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import replace
from moot.engine import resolving
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow import trouble
from moot.engine.flow.advance import Advanced
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.strands import Strand, moved
from moot.engine.resolving import View
from moot.engine.scope import Scope
from moot.engine.step import Exit

_FAILED = "The workflow has ended as failed."


def over(live: Live, strand: Strand, done: Advanced, so_far: Delta) -> Delta:
    """`so_far` is what the way to its end has come to."""
    found = done.after.exit or Exit()
    if strand.error or found.status == "failed":
        ended = trouble.ended(live, strand, strand.error or found.reason or _FAILED)
        return replace(so_far, strands=ended.strands, flow=ended.flow)
    return replace(so_far, strands=(replace(moved(strand, strand.frames), status="done"),))


async def settled(evaluator: Evaluator, live: Live, delta: Delta) -> Delta:
    """With the last strand the flow is over; those for which nobody waits may outlive the first."""
    is_over = delta.flow is not None and not delta.flow.is_live
    if is_over or delta.is_anew or not [one for one in delta.strands if one.is_over]:
        return delta
    after = live.after(delta)
    return await _completed(evaluator, live, delta) if after.main.status == "done" and not after.others else delta


async def _completed(evaluator: Evaluator, live: Live, delta: Delta) -> Delta:
    flow = replace(delta.flow or live.flow, status="completed")
    wanted = live.definition.result
    if not wanted:
        return replace(delta, flow=flow)
    own = live.own(live.main)
    known = live.after(delta).fields
    names = Scope.whole(live.definition, known, own).own_names(known)
    try:
        found = await resolving.resolve(evaluator, View(known, live.definition.schema, names), wanted)
    except MootError as error:
        return replace(delta, flow=replace(flow, status="failed", error=f"result: {error}"))
    value: Json = found.value
    return replace(delta, flow=replace(flow, result=json.dumps(value)))
