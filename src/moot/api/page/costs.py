"""What was spent: by agent, model, run or task, and over time."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from datetime import timedelta
from typing import get_args

from moot.api import cost
from moot.api.cost import By, Within
from moot.api.page.desk import Desk, Plain
from moot.board import windows
from moot.board.windows import Span
from moot.core import clock
from moot.core.ids import AgentId
from moot.core.tx import ReadTx
from moot.ledger import timeline, traces
from moot.ledger.timeline import Note
from moot.ledger.usage import DOLLAR
from moot.registry import agents
from moot.registry.instances import Instance
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource

_DEAREST = 200  # tasks
_MOST_POINTS = 500
_LONGEST = 366 * 24 * 3600
_STEPS = (60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600)  # seconds


def resources(at: Desk) -> list[Resource]:
    async def costs(ask: Ask) -> Plain:
        by = ask.choice("by", (*get_args(By), "task")) or "agent"
        if by == "task":
            return await at.look(ask, _by_task)
        within = Within(ask.instance)
        return await at.look(ask, lambda tx, instance: _costs(tx, instance, by, within))

    async def over_time(ask: Ask) -> Plain:
        by = ask.choice("by", ("agent", "model")) or "agent"
        seconds = ask.number("seconds", least=60, most=_LONGEST) or 24 * 3600
        return await at.look(ask, lambda tx, instance: _over_time(tx, instance, by, seconds))

    return [
        resource.get("/api/costs", costs, "by"),
        resource.get("/api/costs/time", over_time, "by", "seconds"),
    ]


def _costs(tx: ReadTx, instance: Instance | None, by: By, within: Within) -> Plain:
    if instance is None:
        return {"by": by, "lines": [], "total": None}
    return cost.document(cost.look(tx, by, within))


def _over_time(tx: ReadTx, instance: Instance | None, by: str, seconds: int) -> Plain:
    """Of the last so many seconds, in as many pieces as can be shown."""
    step = next((one for one in _STEPS if seconds / one <= _MOST_POINTS / 4), _STEPS[-1])
    if instance is None:
        return {"by": by, "step": step, "points": []}
    found = timeline.spent(tx, instance.name, timedelta(seconds=step), tx.now - timedelta(seconds=seconds))
    names = {one.name: one.name for one in found} if by == "agent" else _models(tx, instance)
    summed: dict[tuple[str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one in found:
        key = clock.to_iso(one.at), names.get(one.name, "unknown")
        tokens, spent = summed[key]
        summed[key] = tokens + one.tokens, spent + one.cost
    points: list[Plain] = [
        {"at": at, "name": name, "tokens": tokens, "cost": spent / DOLLAR}
        for (at, name), (tokens, spent) in summed.items()
    ]
    return {"by": by, "step": step, "points": points}


def _models(tx: ReadTx, instance: Instance) -> dict[str, str]:
    """That of whoever pays; what its sub-agents ask others is in it."""
    return {one.name: traces.model_of(one.backend, one.settings) for one in agents.members(tx, instance.stream)}


def _by_task(tx: ReadTx, instance: Instance | None) -> Plain:
    """What an agent uses while it holds a task is used for it; the dearest tasks first."""
    if instance is None:
        return {"by": "task", "lines": [], "total": None}
    notes = _by_agent(timeline.notes(tx, instance.name))
    lines: list[tuple[int, int, Span]] = []
    for one in windows.spans(tx, instance.name):
        within = _between(notes.get(one.agent, []), one, tx)
        if within:
            lines.append((sum(note.cost for note in within), sum(note.tokens for note in within), one))
    lines.sort(key=lambda line: (-line[0], -line[1], line[2].name))
    total = sum(note.cost for found in notes.values() for note in found)
    return {
        "by": "task",
        "lines": [
            {"name": one.name, "id": one.id, "cost": spent / DOLLAR, "tokens": tokens}
            for spent, tokens, one in lines[:_DEAREST]
        ],
        "total": {"cost": total / DOLLAR},
        "is_cut": len(lines) > _DEAREST,
    }


def _by_agent(notes: list[Note]) -> dict[AgentId, list[Note]]:
    found: dict[AgentId, list[Note]] = defaultdict(list)
    for one in notes:
        found[one.agent].append(one)
    return found


def _between(notes: list[Note], span: Span, tx: ReadTx) -> list[Note]:
    first = bisect_left(notes, span.started_at, key=lambda one: one.at)
    return notes[first : bisect_right(notes, span.ended_at or tx.now, key=lambda one: one.at)]
