"""Pictures of what rests on what: boxes in columns, each to the right of those that it needs, as SVG."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from moot.core.records import record

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _EDGE = 180, 44, 60, 16, 20
_LETTERS = 22  # of a name that fit in a box
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@record
class Box:
    """`below` stands in it under its name, `about` is shown to whoever points at it."""

    key: str
    name: str
    below: str = ""
    about: str = ""
    colour: str = "#e8e8e8"
    kind: str = ""  # what it is, for whoever paints it in other colours
    needs: tuple[str, ...] = ()  # keys of others
    also: tuple[str, ...] = ()  # those to which it is only tied: the line is dashed
    returns: tuple[str, ...] = ()  # those that lead back to it, and stand anywhere: dashed, too


def columns(boxes: Sequence[Box]) -> list[list[Box]]:
    """By how many have to come one after the other before."""
    depth: dict[str, int] = {}
    needs = {one.key: (*one.needs, *one.also) for one in boxes}
    left = list(needs)
    while left:
        # There are no circles: in each round somebody needs nothing that is left.
        free = {key for key in left if not any(need in needs and need not in depth for need in needs[key])}
        for key in free:
            depth[key] = max((depth[need] + 1 for need in needs[key] if need in depth), default=0)
        left = [key for key in left if key not in free]
    found: list[list[Box]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for one in boxes:
        found[depth[one.key]].append(one)
    return found


def svg(title: str, boxes: Sequence[Box]) -> str:
    placed = {
        one.key: (_EDGE + x * (_WIDTH + _GAP_X), _EDGE + y * (_HEIGHT + _GAP_Y))
        for x, column in enumerate(columns(boxes))
        for y, one in enumerate(column)
    }
    wide = max((x for x, _ in placed.values()), default=0) + _WIDTH + _EDGE
    high = max((y for _, y in placed.values()), default=0) + _HEIGHT + _EDGE
    lines = [
        _line(placed[start], placed[one.key], is_dashed=is_dashed)
        for one in boxes
        for start, is_dashed in _ties(one)
        if start in placed
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'font-family="sans-serif" font-size="12"><title>{_shown(title)}</title>'
        '<defs><marker id="end" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#888"/></marker></defs>'
    )
    return "\n".join((head, *lines, *(_box(placed[one.key], one) for one in boxes), "</svg>", ""))


def _ties(one: Box) -> Iterable[tuple[str, bool]]:
    return (*((key, False) for key in one.needs), *((key, True) for key in (*one.also, *one.returns)))


def _shown(text: str) -> str:
    """Without the signs that XML has no way to write."""
    return escape(_UNWRITABLE.sub("", text))


def _line(start: tuple[int, int], end: tuple[int, int], *, is_dashed: bool) -> str:
    x1, y1, x2, y2 = start[0] + _WIDTH, start[1] + _HEIGHT // 2, end[0], end[1] + _HEIGHT // 2
    bend = (x1 + x2) // 2
    dashes = ' stroke-dasharray="4"' if is_dashed else ""
    if x2 < x1:  # back, below everything between
        low = max(y1, y2) + _HEIGHT
        way = f"M{x1},{y1} C{x1 + _GAP_X},{low} {x2 - _GAP_X},{low} {x2},{y2}"
    else:
        way = f"M{x1},{y1} C{bend},{y1} {bend},{y2} {x2},{y2}"
    return f'<path d="{way}" fill="none" stroke="#888"{dashes} marker-end="url(#end)"/>'


def _box(place: tuple[int, int], one: Box) -> str:
    x, y = place
    short = one.name if len(one.name) <= _LETTERS else f"{one.name[: _LETTERS - 1]}…"
    return (
        f'<g data-key="{_shown(one.key)}" data-kind="{_shown(one.kind)}"><title>{_shown(one.about[:500])}</title>'
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{one.colour}" stroke="#666"/>'
        f'<text x="{x + 8}" y="{y + 18}" font-weight="bold">{_shown(short)}</text>'
        f'<text x="{x + 8}" y="{y + 34}" fill="#444">{_shown(one.below[: _LETTERS + 4])}</text></g>'
    )
