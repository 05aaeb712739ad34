"""What a flow is made of, before it begins or while it goes on: the plan of its steps and of its state."""

from pathlib import Path

from moot.api import access, checking, flows
from moot.api.checking import Checked
from moot.core.errors import InvalidInput
from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.library import SUFFIXES
from moot.engine import explaining
from moot.engine.explaining import Plan
from moot.engine.files import compiling
from moot.engine.flow import flows as rows
from moot.engine.flow.flows import FlowNotFound
from moot.store.errors import StoreNotFound
from moot.store.store import Store


async def find(target: str | None, *, store: str | None, instance: str | None) -> Plan:
    """Of a file, of a flow that was begun, or of a workflow by its name; without a target, of the newest flow."""
    if target is not None and ("/" in target or target.endswith(SUFFIXES) or Path(target).exists()):
        return of_file(target)
    try:
        async with access.access("workflow_debug_info", store=store, instance=instance) as opened:
            flow = await flows.find(opened, target)
            files = await opened.store.read(lambda tx: rows.files(tx, flow.id))
            return explaining.explain(compiling.compiled(files), flow.given)
    except (StoreNotFound, FlowNotFound):
        if target is None or target.startswith("wf_"):
            raise
    return of_file(target)


async def length(store: Store, id: FlowId) -> int:
    """How many steps the file of a flow has, without those within others."""
    files = await store.read(lambda tx: rows.files(tx, id))
    return len(compiling.compiled(files).steps)


def of_file(target: str) -> Plan:
    found = checking.check(target)
    plan = found.plan if isinstance(found, Checked) else None
    if plan is None:
        raise InvalidInput(f"{target} has no steps to draw.", "Name a workflow that has some.")
    return plan


def plain(plan: Plan) -> dict[str, Json]:
    state: list[Json] = [{"field": one.key, "from": one.sources} for one in plan.fields]
    return {"name": plan.definition.name, **explaining.to_json(plan), "state": state}
