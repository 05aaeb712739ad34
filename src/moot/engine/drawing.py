"""Pictures of a definition: its steps as they follow each other, and the fields of its state as they follow from each
other."""

from collections.abc import Mapping, Sequence

from moot.core import pictures
from moot.core.pictures import Box
from moot.core.records import replace
from moot.engine.explaining import Plan, Planned, Who

_COLOURS: Mapping[Who, str] = {
    "moot": "#e8e8e8",
    "agent": "#9cc7ff",
    "sub-agents": "#cfe3ff",
    "person": "#d9c7ff",
}
_RAW, _COMPUTED = "#f6f6f6", "#bfe8c3"


def steps(plan: Plan) -> str:
    """Choices and loops lead into their blocks; what comes back from a loop is dashed."""
    boxes, _ = _row(plan.steps, (), plan)
    return pictures.svg(plan.definition.name, boxes)


def state(plan: Plan) -> str:
    """Each field to the right of what it is computed from."""
    computed = plan.definition.schema.computed
    boxes: list[Box] = []
    for one in plan.fields:
        section, _, name = one.key.partition(".")
        is_raw = section != "computed"
        about = one.key if is_raw else computed[name].transform.strip()
        boxes.append(Box(one.key, name, section, about, _RAW if is_raw else _COMPUTED, section, one.sources))
    return pictures.svg(f"{plan.definition.name}: state", boxes)


def _row(steps: Sequence[Planned], before: tuple[str, ...], plan: Plan) -> tuple[list[Box], tuple[str, ...]]:
    """The boxes of a block, and those that lead out of it."""
    boxes: list[Box] = []
    for one in steps:
        box = _step(one, before)
        inner: list[Box] = []
        ends: list[str] = []
        for block in _inside(one, plan):
            within = replace(plan, tasks={}) if one.who == "sub-agents" else plan
            found, out = _row(block, (one.id,), within)
            inner += found
            ends += out
        is_loop = one.type in ("while", "foreach")
        boxes += [replace(box, returns=tuple(ends)) if is_loop else box, *inner]
        goes_past = is_loop or not ends or (one.type == "conditional" and len(one.blocks) < 2)
        before = (one.id, *(() if is_loop else ends)) if goes_past else tuple(ends)
    return boxes, before


def _inside(one: Planned, plan: Plan) -> Sequence[tuple[Planned, ...]]:
    if one.type == "parallel_foreach" and one.named in plan.tasks:
        # Those of another step have ids of their own, although they are the same.
        return [tuple(_renamed(step, f"{one.id}/") for step in plan.tasks[one.named])]
    return tuple(one.blocks.values())


def _renamed(one: Planned, before: str) -> Planned:
    blocks = {key: tuple(_renamed(step, before) for step in block) for key, block in one.blocks.items()}
    return replace(one, id=before + one.id, blocks=blocks)


def _step(one: Planned, needs: tuple[str, ...]) -> Box:
    name = one.type if one.name.isdigit() else one.name
    below = " ".join(word for word in (one.type if name != one.type else "", one.named) if word)
    told = (one.id, *(f"if {condition}" for condition in one.conditions), one.items)
    about = "\n".join(line for line in told if line)
    return Box(one.id, name, below or one.items, about, _COLOURS[one.who], one.who, needs)
