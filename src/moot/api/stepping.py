"""Flows that are run step by step: letting one take the next steps, and what these came to."""

from collections.abc import Mapping

from moot.api.access import Access
from moot.core.errors import MootError
from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.engine.files import compiling
from moot.engine.flow import flows, history, strands
from moot.engine.flow.flows import Flow, FlowOver
from moot.engine.flow.history import StepRow
from moot.engine.state import fields
from moot.registry import hosts
from moot.tools import advancing

_MOST = 1000  # steps that are shown at once


class NotStepped(MootError):
    """It takes its steps by itself."""

    code = "NOT_STEP_BY_STEP"


@record
class Seen:
    """A flow as somebody has seen it last."""

    flow: Flow
    state: Mapping[str, Mapping[str, Json]]
    last_step: int


@record
class Changed:
    """A field of the state, and what became of it; None where there was or is nothing."""

    key: str
    before: Json
    after: Json


@record
class Walked:
    """What was done between two looks."""

    flow: Flow
    steps: tuple[StepRow, ...]
    changes: tuple[Changed, ...]


async def allow(access: Access, id: FlowId, steps: int | None) -> Seen:
    """So many steps more, or as many as there are; how it was before. NotStepped, if nobody has to let it."""

    def change(tx: Tx) -> Seen:
        flow = flows.get(tx, id)
        seen = look(tx, id)
        if not flow.is_live:
            raise FlowOver(f"{flow.name} is {flow.status}.", "Nothing is left to do; see moot flow trace.")
        if flow.credits is None:
            raise NotStepped(f"{flow.name} takes its steps by itself.", "Begin it with moot run --step.")
        flows.allow(tx, flow, None if steps is None else flow.credits + steps)
        advancing.advance(tx, flow.id, flow.stream)
        return seen

    return await access.store.write(change, caller=access.caller)


async def is_served(access: Access) -> bool:
    """Whether somebody is there who advances flows."""
    return await access.store.read(lambda tx: any("work" in host.roles for host in hosts.alive(tx)))


async def walked(access: Access, seen: Seen) -> Walked:
    """Once the steps that are allowed were taken, or something else is waited for."""
    with access.store.listen() as signal:
        while True:
            signal.clear()
            found = await access.store.read(lambda tx: since(tx, seen))
            if not found.flow.is_live or _is_standing(found.flow):
                return found
            await signal.wait()


def _is_standing(flow: Flow) -> bool:
    return flow.waits_for not in ("", "credit") or (flow.waits_for == "credit" and flow.credits == 0)


async def allow_next(access: Access, id: FlowId) -> bool:
    """One step more, if that is what it waits for."""
    flow = await access.store.read(lambda tx: flows.find(tx, id))
    if flow is None or flow.waits_for != "credit" or flow.credits:
        return False
    await allow(access, id, 1)
    return True


def ahead(tx: ReadTx, flow: Flow) -> str:
    """The step that it would take next."""
    definition = compiling.compiled(flows.files(tx, flow.id))
    moving = next((one for one in strands.of_flow(tx, flow.id).values() if one.status == "moving"), None)
    if moving is None or not definition.trail(moving.frames):
        return ""
    return definition.step_id(moving.frames)


def look(tx: ReadTx, id: FlowId) -> Seen:
    flow = flows.get(tx, id)
    return Seen(flow, fields.sections(flows.fields(tx, id)), flow.last_step)


def since(tx: ReadTx, seen: Seen) -> Walked:
    now = look(tx, seen.flow.id)
    steps = history.steps(tx, now.flow.id, after=seen.last_step, limit=_MOST)
    return Walked(now.flow, tuple(steps), tuple(changes(seen, now)))


def changes(before: Seen, after: Seen) -> list[Changed]:
    """Raw fields first, then what follows from them."""
    return [
        Changed(f"{section}.{name}", was.get(name), found.get(name))
        for section in ("raw", "state", "computed")
        for was, found in [(before.state[section], after.state[section])]
        for name in dict.fromkeys((*was, *found))
        if was.get(name) != found.get(name)
    ]
