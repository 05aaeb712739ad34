"""Flows as lines: for the commands that show where one is, what it did and what changed."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from moot.api import plain as plains
from moot.cli import terminal
from moot.cli.transcript import clock_time
from moot.core import durations, json, text
from moot.core.json import Json

if TYPE_CHECKING:
    from moot.api.flows import Trace
    from moot.api.stepping import Changed, Walked
    from moot.api.whereabouts import Spot, Whereabouts
    from moot.engine.flow.history import StepRow

_VALUE = 160  # characters of a value on one line
_ERROR = 300
_SPOTS = 6  # that are shown while a flow moves
_MARKS = {"success": "✓", "failed": "✗", "skipped": "-"}
_COLOURS = {"success": "green", "failed": "red", "skipped": "dim"}


def row(found: "Whereabouts") -> tuple[str, ...]:
    flow = found.flow
    waits = f"waits {found.waits}" if found.waits else ""
    where = ", ".join(part for part in (found.step, waits) if part) or first_line(flow.error)
    return flow.id, flow.name, flow.status, str(flow.last_step), where


def fields(found: Mapping[str, Json], indent: str = "") -> None:
    for name, value in found.items():
        terminal.say(indent, terminal.paint(name, "bold"), " = ", short(value))


def short(value: Json) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= _VALUE else f"{shown[:_VALUE]}… ({len(shown)} characters)"


def first_line(words: str) -> str:
    line = (words.strip().splitlines() or [""])[0]
    return line if len(line) <= _ERROR else f"{line[:_ERROR]}…"


def trace(found: "Trace") -> None:
    steps = [
        (
            f"  {one.number}",
            clock_time(one.ended_at),
            one.status,
            one.doer,
            durations.spell(one.ended_at - one.started_at),
            _of(found.tasks.get(one.strand, "")) + one.step_id + (f": {first_line(one.error)}" if one.error else ""),
        )
        for one in found.steps
    ]
    if steps:
        terminal.table([("  #", "TIME", "STATUS", "BY", "TOOK", "STEP"), *steps], (5, 8, 7, 6, 6))
    computed = [
        (
            f"  {clock_time(one.at)}",
            f"{one.micros / 1000:.2f} ms",
            one.field,
            f"from {one.trigger_key}",
            first_line(one.error) or (one.output or "nothing")[:_VALUE],
        )
        for one in found.computed
    ]
    if computed:
        terminal.say(terminal.paint("computed", "bold"))
        terminal.table(computed, (10, 9, 12, 12))
    if not steps and not computed:
        terminal.say("  nothing yet")


def _of(task: str) -> str:
    return f"{task}: " if task else ""


def steps(found: "Walked") -> None:
    """What was done, then what changed with it."""
    for one in found.steps:
        taken(one)
    changes(found.changes)


def walked(found: "Walked") -> None:
    """The same, and how it stands then."""
    steps(found)
    flow = found.flow
    if not flow.is_live:
        terminal.say(f"{flow.name} is {flow.status}", f": {first_line(flow.error)}" if flow.error else "")
    elif flow.waits_for not in ("", "credit"):
        terminal.say(f"{flow.name} waits; see moot flow ls")


def taken(one: "StepRow", task: str = "") -> None:
    """`21:18:09 ✓ batch_0: check.shell_command  make test  2.1 s`"""
    mark = terminal.paint(_MARKS[one.status], _COLOURS[one.status])
    by = "" if one.doer == "moot" else f"by {'the person' if one.doer == 'person' else 'an agent'}"
    took = one.ended_at - one.started_at
    how_long = durations.spell(took) if took.total_seconds() >= 0.1 else ""
    said = " ".join(str(one.detail.get("command") or one.detail.get("method") or "").split())
    facts = "  ".join(part for part in (f"{_of(task)}{one.step_id}", said[:_VALUE], by, how_long) if part)
    why = first_line(one.error) or str(one.detail.get("warning") or "")
    time = terminal.paint(clock_time(one.ended_at), "dim")
    terminal.say(time, " ", mark, f" {terminal.one_line(facts)}{f': {why}' if why else ''}")


def changes(found: Iterable["Changed"]) -> None:
    for one in found:
        before = "" if one.before is None else f"  (was {short(one.before)})"
        terminal.say("    ", terminal.paint(one.key, "bold"), " = ", short(one.after), terminal.paint(before, "dim"))


def plain(found: "Walked") -> plains.Plain:
    from moot.api import flows

    return {
        "status": found.flow.status,
        "waits_for": found.flow.waits_for or None,
        "steps": [flows.plain_step(one) for one in found.steps],
        "changes": {one.key: {"before": one.before, "after": one.after} for one in found.changes},
    }


def moving(where: "Whereabouts") -> list[str]:
    """Where a flow is, in few lines: how much is done, and what is being done."""
    flow = where.flow
    if not flow.is_live:
        return []
    done = [text.counted(flow.last_step, "step")]
    done += [f"{where.tasks_over} of {where.tasks} tasks"] if where.tasks else []
    lines = [f"{'…' if where.waits else '▸'} {flow.name}: {', '.join(done)}"]
    at_work = [one for one in where.spots if one.step and one.status not in ("forked", "ready")]
    lines += [f"  {_spot(one)}" for one in at_work[:_SPOTS]]
    if len(at_work) > _SPOTS:
        lines.append(f"  and {len(at_work) - _SPOTS} more")
    return [terminal.one_line(one) for one in lines]


def _spot(one: "Spot") -> str:
    about = f"  {one.about}" if one.about else ""
    return f"{_of(one.task)}{one.step}{about}{f', waits {one.waits}' if one.waits else ''}"
