"""A strand has come to its end; with the last of them the flow has, and its result is what the definition says."""

from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import replace
from moot.engine import resolving, trouble
from moot.engine.advance import Advanced
from moot.engine.delta import Delta, Live
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.resolving import View
from moot.engine.step import Exit
from moot.engine.strands import MAIN, Strand, moved

_FAILED = "The workflow has ended as failed."


async def over(evaluator: Evaluator, live: Live, strand: Strand, done: Advanced, so_far: Delta) -> Delta:
    """`so_far` is what the way to its end has come to."""
    found = done.after.exit or Exit()
    if strand.error or found.status == "failed":
        ended = trouble.ended(live, strand, strand.error or found.reason or _FAILED)
        return replace(so_far, strands=ended.strands, flow=ended.flow)
    finished = replace(moved(strand, strand.frames), status="done")
    is_last = _is_last(live, strand)
    delta = replace(so_far, strands=(finished,))
    return await _completed(evaluator, live, delta) if is_last else delta


def _is_last(live: Live, strand: Strand) -> bool:
    """Strands for which nobody waits may outlive the first."""
    others = [one for one in live.others if one.number != strand.number]
    return not others and (strand.number == MAIN or live.main.status == "done")


async def _completed(evaluator: Evaluator, live: Live, delta: Delta) -> Delta:
    flow = replace(live.flow, status="completed")
    wanted = live.definition.result
    if not wanted:
        return replace(delta, flow=flow)
    own = {name: json.dumps(value) for name, value in live.own(live.main).items()}
    known = live.after(delta).fields
    try:
        found = await resolving.resolve(evaluator, View(known, live.definition.schema, own), wanted)
    except MootError as error:
        return replace(delta, flow=replace(flow, status="failed", error=str(error)))
    value: Json = found.value
    return replace(delta, flow=replace(flow, result=json.dumps(value)))
