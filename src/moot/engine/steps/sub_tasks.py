"""The tasks of sub-agents, one for each item of a list: what each is called, and what it knows from the beginning."""

from collections.abc import Mapping, Sequence

from moot.core.json import Json
from moot.engine import resolving
from moot.engine.expressions import template
from moot.engine.resolving import text_of
from moot.engine.step import StepFailed, Visit

_FLOW = template.expression("typeof workflow_id === 'undefined' ? null : workflow_id")


async def listed(visit: Visit, items: Sequence[Json], asked: Mapping[str, Json]) -> list[Json]:
    flow = await visit.value(_FLOW)
    found: dict[str, Json] = {}
    for number, item in enumerate(items):
        id = _id(visit, item, number)
        if id in found:
            raise StepFailed(f"Two items of {visit.called} have the id {id[:80]!r}.", "Give each an id of its own.")
        fields = item if isinstance(item, Mapping) else dict[str, Json]()
        given = {"item": item, "index": number, "task_id": id}
        context = {"batch_id": id, **await _inputs(visit, asked, fields, given), **fields, **given, "workflow_id": flow}
        found[id] = {"task_id": id, "context": context}
    return list(found.values())


def _id(visit: Visit, item: Json, number: int) -> str:
    id = item.get("id") if isinstance(item, Mapping) else None
    is_one = isinstance(id, str | int | float) and not isinstance(id, bool) and id != ""
    return text_of(id) if is_one else f"{visit.step.name}_{number}"


async def _inputs(
    visit: Visit, asked: Mapping[str, Json], fields: Mapping[str, Json], given: Mapping[str, Json]
) -> dict[str, Json]:
    """What the task asks for and the item does not have: what stands in for it, in which the item is known; and if
    nothing does, an id of whatever kind is that of the task."""
    found: dict[str, Json] = {}
    for name, default in asked.items():
        if name in fields:
            continue
        if default is not None:
            has_templates = any(resolving.expressions(default))
            found[name] = await visit.resolved(default, given) if has_templates else default
        elif name.endswith("_id"):
            found[name] = given["task_id"]
    return found
