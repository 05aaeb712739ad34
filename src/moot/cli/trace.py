"""`moot trace`: what was done, what led to what, and how long it took, as a tree or along a line of time."""

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from datetime import timedelta

import click

from moot.api import targets, trace
from moot.api.access import access
from moot.api.trace import Trace
from moot.cli import loop, terminal
from moot.cli.money import dollars
from moot.cli.options import json_option, only_instance_option, store_option
from moot.core import durations
from moot.core.ids import InstanceName
from moot.ledger.nodes import Amounts, Node
from moot.store.errors import StoreNotFound

NOTHING = "nothing has happened here yet; begin with: moot run FILE"
_UNKNOWN_WIDTH = 120  # where lines go that no terminal shows
_BAR = 24
_FINE = frozenset(("done", "succeeded", "repeated"))
_COLOURS = {"failed": "red", "lost": "red", "unknown": "yellow", "started": "cyan", "running": "cyan"}
_MARKS = {"unknown": "? unknown", "started": "… under way", "running": "… under way", "failed": "✗ failed"}


@click.command()
@click.argument("id", required=False)
@click.option("--timeline", is_flag=True, help="In the order of beginnings, with bars.")
@only_instance_option
@store_option
@json_option
def command(*, id: str | None, timeline: bool, instance: str | None, store: str | None, as_json: bool) -> None:
    """What led to what, which calls were made, and how long each took: of a run, an attempt, a message, a request, a
    job, a tree of sessions or an agent (its last attempt). Without an ID: of what ran last."""
    only = targets.instance(instance) if instance else None
    try:
        found = loop.run(_look(id, only, store))
    except StoreNotFound:
        if id is not None:
            raise
        if as_json:
            terminal.document([])
        else:
            terminal.say(NOTHING)
        return
    if as_json:
        terminal.document(trace.document(found))
        return
    width = _width()
    for line, node in _timeline(found) if timeline else _tree(found):
        fitting = fitted(line, width)
        colour = _COLOURS.get(node.state)
        terminal.say(terminal.paint(fitting, colour) if colour else fitting)


async def _look(id: str | None, only: InstanceName | None, store: str | None) -> Trace:
    async with access("manage", store=store) as opened:
        return await trace.of(opened, id, only)


def _width() -> int:
    if not terminal.is_terminal(sys.stdout) and "COLUMNS" not in os.environ:
        return _UNKNOWN_WIDTH
    return shutil.get_terminal_size().columns


def _tree(found: Trace) -> Iterator[tuple[str, Node]]:
    below = found.below()

    def lines(node: Node, first: str, rest: str) -> Iterator[tuple[str, Node]]:
        yield first + _label(found, node), node
        children = below.get(node.id, [])
        for number, child in enumerate(children, 1):
            is_last = number == len(children)
            yield from lines(child, f"{rest}{'└ ' if is_last else '├ '}", f"{rest}{'  ' if is_last else '│ '}")

    for top in below.get(None, []):
        yield from lines(top, "", "")


def _timeline(found: Trace) -> Iterator[tuple[str, Node]]:
    """Turns are left out: they last as long as what is in them."""
    nodes = sorted((one for one in found.nodes if one.kind != "turn"), key=lambda one: one.started_at)
    begin = nodes[0].started_at
    whole = max((one.started_at - begin + found.lasted(one)).total_seconds() for one in nodes) or 1.0
    for node in nodes:
        offset = (node.started_at - begin).total_seconds()
        start = min(int(offset / whole * _BAR), _BAR - 1)
        length = max(round(found.lasted(node).total_seconds() / whole * _BAR), 1)
        bar = (" " * start + ("·" if node.kind == "message" else "━") * length)[:_BAR]
        whose = f"{node.agent}  " if node.kind in ("model", "tool") else ""
        yield f"{f'+{offset:.3f} s':>11}  {bar:<{_BAR}}  {whose}{_label(found, node)}", node


def _label(found: Trace, node: Node) -> str:
    if node.kind == "message":
        said = f"{node.name}: {node.text}"
        return f"given {said}" if node.trigger == "given" else f"{node.trigger or node.id}  {said}"
    pieces = [_name(node), _answered(found, node), _state(node)]
    if node.kind != "turn" and node.trigger != "answer":  # of which nobody knows how long it took
        pieces.append(_spell(found.lasted(node)))
    pieces += [_used(node, found.totals.get(node.id, Amounts())), _stop(node)]
    return "  ".join(piece for piece in pieces if piece)


def _answered(found: Trace, node: Node) -> str:
    terminal = found.terminals.get(node.id, node.name)
    return "" if terminal == node.name else f"answered by {terminal}"


def _spell(lasted: timedelta) -> str:
    return f"{lasted / timedelta(milliseconds=1):.0f} ms" if lasted < timedelta(seconds=1) else durations.spell(lasted)


def _name(node: Node) -> str:
    match node.kind:
        case "run" | "job":
            return f"{node.kind} {node.name} {node.id}"
        case "attempt":
            return f"{node.name} {node.id}" + (f" (attempt {node.number})" if node.number > 1 else "")
        case "session":
            return node.name if node.trigger in ("", "root") else f"{node.trigger} {node.name}"
        case "model":
            return f"model {node.name}" + (f" (try {node.number})" if node.number > 1 else "")
        case "tool":
            return f"call {node.name}"
        case _:
            return node.name


def _state(node: Node) -> str:
    if node.state in _FINE:
        return "" if node.kind not in ("run", "job", "attempt") else node.state
    mark = _MARKS.get(node.state, node.state)
    return f"{mark}: {_first_line(node.error)}" if node.error.strip() else mark


def _first_line(error: str) -> str:
    return error.strip().splitlines()[0]


def _used(node: Node, used: Amounts) -> str:
    if not used.calls:
        return ""
    cost = dollars(used.cost, is_estimated=used.is_estimated)
    if node.kind == "model":
        return f"{used.input_tokens:,} in {used.output_tokens:,} out  {cost}"
    return cost if node.kind in ("run", "job", "attempt", "session") else ""


def _stop(node: Node) -> str:
    return node.stop if node.kind == "model" and node.state == "done" else ""


def fitted(line: str, width: int) -> str:
    """On one line, and no wider than the terminal, in which some letters take two places and some take none."""
    plain, taken = terminal.one_line(line), 0
    for at, letter in enumerate(plain):
        taken += _cells(letter)
        if taken > width:
            return _cut(plain[:at], width - 1) + "…"
    return plain


def _cut(text: str, width: int) -> str:
    while sum(_cells(letter) for letter in text) > width:
        text = text[:-1]
    return text


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
