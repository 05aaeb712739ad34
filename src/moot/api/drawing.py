"""Plans as pictures: tasks in columns, each to the right of what it needs."""

from collections.abc import Mapping, Sequence

from moot.api.plans import Drawn, status_of
from moot.core import pictures
from moot.core.pictures import Box

_COLOURS: Mapping[str, str] = {
    "pending": "#e8e8e8",
    "blocked": "#f6f6f6",
    "planning": "#cfe3ff",
    "in_progress": "#9cc7ff",
    "verifying": "#d9c7ff",
    "completed": "#bfe8c3",
    "failed": "#f5b5b0",
    "skipped": "#eeeeee",
}


def columns(drawn: Sequence[Drawn]) -> list[list[Drawn]]:
    """By how many tasks have to be done one after the other before."""
    tasks = {str(one.task.id): one for one in drawn}
    return [[tasks[box.key] for box in column] for column in pictures.columns([_box(one) for one in drawn])]


def svg(title: str, drawn: Sequence[Drawn]) -> str:
    return pictures.svg(title, [_box(one) for one in drawn])


def _box(one: Drawn) -> Box:
    status = status_of(one.task)
    return Box(
        one.task.id,
        one.task.name,
        f"{status}, {one.holder}" if one.holder else status,
        f"{one.task.name}: {one.task.description}",
        _COLOURS[status],
        status,
        tuple(need.id for need in one.needs if need.kind != "informs"),
        tuple(need.id for need in one.needs if need.kind == "informs"),
    )
