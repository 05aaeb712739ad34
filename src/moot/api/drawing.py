"""Plans as pictures: tasks in columns, each to the right of what it needs."""

import re
from collections.abc import Mapping, Sequence
from html import escape

from moot.api.plans import Drawn, status_of

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _EDGE = 180, 44, 60, 16, 20
_LETTERS = 22  # of a name that fit in a box
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
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
    depth: dict[str, int] = {}
    waiting = {one.task.id: [need.id for need in one.needs] for one in drawn}
    left = [one.task.id for one in drawn]
    while left:
        # A plan has no circles: in each round somebody needs nothing that is left.
        free = {id for id in left if not any(need in waiting and need not in depth for need in waiting[id])}
        for id in free:
            depth[id] = max((depth[need] + 1 for need in waiting[id] if need in depth), default=0)
        left = [id for id in left if id not in free]
    found: list[list[Drawn]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for one in drawn:
        found[depth[one.task.id]].append(one)
    return found


def svg(title: str, drawn: Sequence[Drawn]) -> str:
    placed = {
        one.task.id: (_EDGE + x * (_WIDTH + _GAP_X), _EDGE + y * (_HEIGHT + _GAP_Y), one)
        for x, column in enumerate(columns(drawn))
        for y, one in enumerate(column)
    }
    wide = max((x for x, _, _ in placed.values()), default=0) + _WIDTH + _EDGE
    high = max((y for _, y, _ in placed.values()), default=0) + _HEIGHT + _EDGE
    ties = ((need, to) for to in placed.values() for need in to[2].needs if need.id in placed)
    lines = [_line(placed[need.id], to, need.kind) for need, to in ties]
    boxes = [_box(x, y, one) for x, y, one in placed.values()]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'font-family="sans-serif" font-size="12"><title>{_shown(title)}</title>'
        '<defs><marker id="end" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#888"/></marker></defs>'
    )
    return "\n".join((head, *lines, *boxes, "</svg>", ""))


def _shown(text: str) -> str:
    """Without the signs that XML has no way to write."""
    return escape(_UNWRITABLE.sub("", text))


def _line(start: tuple[int, int, Drawn], end: tuple[int, int, Drawn], kind: str) -> str:
    x1, y1, x2, y2 = start[0] + _WIDTH, start[1] + _HEIGHT // 2, end[0], end[1] + _HEIGHT // 2
    bend = (x1 + x2) // 2
    dashes = ' stroke-dasharray="4"' if kind == "informs" else ""
    return (
        f'<path d="M{x1},{y1} C{bend},{y1} {bend},{y2} {x2},{y2}" fill="none" stroke="#888"{dashes} '
        'marker-end="url(#end)"/>'
    )


def _box(x: int, y: int, one: Drawn) -> str:
    status, name = status_of(one.task), one.task.name
    short = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
    below = f"{status}, {one.holder}" if one.holder else status
    return (
        f"<g><title>{_shown(f'{name}: {one.task.description}'[:500])}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{_COLOURS[status]}" stroke="#666"/>'
        f'<text x="{x + 8}" y="{y + 18}" font-weight="bold">{_shown(short)}</text>'
        f'<text x="{x + 8}" y="{y + 34}" fill="#444">{_shown(below[: _LETTERS + 4])}</text></g>'
    )
