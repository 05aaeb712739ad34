"""Flows: where each is, its state and what follows from what, the steps it took, what was computed; one step more."""

from moot.api import flow_plans, stepping, whereabouts
from moot.api import flows as looking
from moot.api.page.desk import Desk, Plain
from moot.core import json
from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.engine import drawing, explaining
from moot.engine.explaining import Plan
from moot.engine.files import compiling
from moot.engine.flow import flows, history, strands
from moot.engine.flow.flows import Flow
from moot.engine.state import fields
from moot.registry.instances import Instance
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Picture, Resource

_FLOWS = 50
_LAST = 100
_MOST = 200
_LETTERS = 4000  # of a value that is shown


def resources(at: Desk) -> list[Resource]:
    async def one(ask: Ask) -> Plain:
        id, limit = FlowId(ask.place["id"]), ask.limit(_LAST, _MOST)
        return await at.look(ask, lambda tx, instance: _one(tx, _found(tx, ask, id), limit))

    async def plan(ask: Ask) -> Plain:
        return flow_plans.plain(await _plan(at, ask))

    async def graph(ask: Ask) -> Picture:
        found = await _plan(at, ask)
        of = ask.choice("of", ("steps", "state")) or "steps"
        return Picture(drawing.steps(found) if of == "steps" else drawing.state(found))

    async def step(ask: Ask) -> Plain:
        id, seat = FlowId(ask.place["id"]), at.seat(ask)
        await at.store.read(lambda tx: _found(tx, ask, id))
        await stepping.allow(seat, id, ask.number("steps", least=1, most=1000) or 1)
        return {"flow": await at.store.read(lambda tx: whereabouts.plain(whereabouts.of(tx, flows.get(tx, id))))}

    return [
        resource.get("/api/flows", at.answer(_listed)),
        resource.get("/api/flows/{id}", one, "limit"),
        resource.get("/api/flows/{id}/plan", plan),
        resource.get("/api/flows/{id}/graph.svg", graph, "of"),
        resource.post("/api/flows/{id}/step", step, "steps"),
    ]


def _listed(tx: ReadTx, instance: Instance | None) -> Plain:
    """The newest first."""
    found = flows.all_of(tx, instance.name, _FLOWS) if instance else []
    return {"flows": [whereabouts.plain(whereabouts.of(tx, one)) for one in found]}


def _found(tx: ReadTx, ask: Ask, id: FlowId) -> Flow:
    return looking.look_up(tx, ask.instance, id)


async def _plan(at: Desk, ask: Ask) -> Plan:
    """Read in a transaction, and explained outside of it: that takes its time."""

    def look(tx: ReadTx) -> tuple[Flow, flows.Files]:
        flow = _found(tx, ask, FlowId(ask.place["id"]))
        return flow, flows.files(tx, flow.id)

    flow, files = await at.store.read(look)
    return explaining.explain(compiling.compiled(files), flow.given)


def _one(tx: ReadTx, flow: Flow, limit: int) -> Plain:
    tasks = {one.number: one.task_id for one in strands.all_of(tx, flow.id) if one.task_id}
    return {
        "flow": whereabouts.plain(whereabouts.of(tx, flow)),
        "state": _state(tx, flow),
        "steps": [looking.plain_step(one, tasks.get(one.strand, "")) for one in history.last_steps(tx, flow.id, limit)],
        "traces": [looking.plain_trace(one) for one in history.traces(tx, flow.id, None, limit)],
        "checkpoints": [
            {"id": one.id, "step_id": one.step_id, "reason": one.reason}
            for one in history.checkpoints(tx, flow.id)[-limit:]
        ],
    }


def _state(tx: ReadTx, flow: Flow) -> list[Plain]:
    """Field by field; of a very long value the beginning, as text."""
    found: list[Plain] = []
    for section, values in fields.sections(flows.fields(tx, flow.id)).items():
        found += [{"section": section, "name": name, **_value(value)} for name, value in values.items()]
    return found


def _value(value: Json) -> Plain:
    text = json.dumps(value)
    if len(text) <= _LETTERS:
        return {"value": value, "is_cut": False}
    return {"value": text[:_LETTERS], "is_cut": True, "length": len(text)}
