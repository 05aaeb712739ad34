"""Flows for whoever looks at them: which one is meant, where it is, its state, and what it has done."""

from collections.abc import Mapping, Sequence

from moot.api import whereabouts
from moot.api.access import Access
from moot.api.whereabouts import Whereabouts
from moot.core import clock
from moot.core.errors import MootError
from moot.core.ids import FlowId, InstanceName
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.engine.flow import flows, history, strands
from moot.engine.flow.flows import Flow, FlowNotFound
from moot.engine.flow.history import StepRow, TraceRow
from moot.engine.state import fields, paths
from moot.engine.state.operations import Missing
from moot.tools import flow_access
from moot.tools.flow_access import FieldUnknown

_MOST = 1000  # flows that are looked at


class CheckpointNotFound(MootError):
    code = "CHECKPOINT_NOT_FOUND"


@record
class Wanted:
    """What of a state is asked for."""

    paths: tuple[str, ...] = ()  # nothing: everything
    checkpoint: str | None = None
    is_apart: bool = False  # raw, state and computed each by itself


@record
class Trace:
    """What a flow has done, the newest last."""

    flow: Flow
    steps: tuple[StepRow, ...]
    computed: tuple[TraceRow, ...]
    tasks: Mapping[int, str]  # of sub-agents, by the number of the strand


async def listed(access: Access) -> list[Whereabouts]:
    """The newest first."""

    def look(tx: ReadTx) -> list[Whereabouts]:
        return [whereabouts.of(tx, one) for one in flows.all_of(tx, access.caller.instance)]

    return await access.store.read(look)


async def find(access: Access, named: str | None) -> Flow:
    return await access.store.read(lambda tx: look_up(tx, access.caller.instance, named))


def look_up(tx: ReadTx, instance: InstanceName, named: str | None) -> Flow:
    """By id, or the newest of a name; without one, the newest of all."""
    found = _named(tx, instance, named)
    if found is not None:
        return found
    if named is None:
        raise FlowNotFound("No workflow with steps was begun here.", "Begin one with moot run FILE.")
    raise FlowNotFound(f"There is no workflow {named[:80]!r} with steps here.", "See moot flow ls.")


def _named(tx: ReadTx, instance: InstanceName, named: str | None) -> Flow | None:
    if named is not None:
        known = flows.find(tx, FlowId(named))
        if known is not None and known.instance == instance:
            return known
    every = flows.all_of(tx, instance, _MOST)
    return next((one for one in every if named in (None, one.name)), None)


async def split(access: Access, words: Sequence[str]) -> tuple[Flow, tuple[str, ...]]:
    """`[FLOW] [PATH]…` as they are typed: the first word is a flow if there is one of this id or name."""

    def look(tx: ReadTx) -> tuple[Flow, tuple[str, ...]]:
        known = _named(tx, access.caller.instance, words[0]) if words else None
        if known is not None:
            return known, tuple(words[1:])
        is_id = bool(words) and words[0].startswith("wf_")
        return look_up(tx, access.caller.instance, words[0] if is_id else None), tuple(words)

    return await access.store.read(look)


async def state(access: Access, flow: Flow, wanted: Wanted) -> dict[str, Json]:
    """Flat, or by sections; only what lies at the paths, if there are any."""
    return await access.store.read(lambda tx: _state(tx, flow, wanted))


def _state(tx: ReadTx, flow: Flow, wanted: Wanted) -> dict[str, Json]:
    if wanted.checkpoint is not None:
        return _at(_kept(tx, flow, wanted.checkpoint), wanted.paths)
    known = flows.fields(tx, flow.id)
    if wanted.paths:
        return {path: _value(known, path) for path in wanted.paths}
    if wanted.is_apart:
        return dict(fields.sections(known))
    return fields.flat(known)


def _value(known: Mapping[str, str], path: str) -> Json:
    found = fields.look_up(known, path)
    if isinstance(found, Missing):
        raise FieldUnknown(f"There is nothing at {path[:200]}.", "See moot flow state for what there is.")
    return found


def _kept(tx: ReadTx, flow: Flow, id: str) -> Mapping[str, Json]:
    every = history.checkpoints(tx, flow.id)
    for one in every:
        if one.id == id:
            return one.state
    named = ", ".join(f"{one.id} (at {one.step_id or 'the beginning'})" for one in every[-10:])
    raise CheckpointNotFound(
        f"{flow.name} has no checkpoint {id[:80]!r}.", f"There are: {named}." if named else "It has none."
    )


def _at(kept: Mapping[str, Json], wanted: Sequence[str]) -> dict[str, Json]:
    """What was kept is flat."""
    if not wanted:
        return dict(kept)
    found: dict[str, Json] = {}
    for path in wanted:
        there: Json = dict(kept)
        for key in paths.split(path):
            if not isinstance(there, Mapping) or key not in there:
                raise FieldUnknown(f"There is nothing at {path[:200]}.", "Leave it out to see everything.")
            there = there[key]
        found[path] = there
    return found


async def trace(access: Access, flow: Flow, field: str | None, limit: int) -> Trace:
    """The last steps, unless a field is meant; and what was computed last."""
    name = None if field is None else field.removeprefix("computed.")

    def look(tx: ReadTx) -> Trace:
        if name is not None:
            flow_access.check_computed(tx, flow, name)
        steps = () if name is not None else history.last_steps(tx, flow.id, limit)
        tasks = {one.number: one.task_id for one in strands.all_of(tx, flow.id) if one.task_id}
        return Trace(flow, tuple(steps), tuple(history.traces(tx, flow.id, name, limit)), tasks)

    return await access.store.read(look)


def plain_step(one: StepRow, task: str = "") -> dict[str, Json]:
    return {
        "task_id": task or None,
        "number": one.number,
        "step_id": one.step_id,
        "type": one.type,
        "by": one.doer,
        "status": one.status,
        "started_at": clock.to_iso(one.started_at),
        "completed_at": clock.to_iso(one.ended_at),
        "detail": dict(one.detail),
        "error": one.error or None,
    }


def plain_trace(one: TraceRow) -> dict[str, Json]:
    return {
        "field": one.field,
        "timestamp": clock.to_iso(one.at),
        "trigger": one.trigger_key,
        "duration_ms": one.micros / 1000,
        "input": one.input,
        "output": one.output,
        "error": one.error or None,
    }
