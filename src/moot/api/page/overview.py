"""The first view: what needs the person, who works on what, what it costs, what was said last."""

from moot.api import overview, plain, status
from moot.api.page import needs
from moot.api.page.desk import Desk, Plain
from moot.bus import messages
from moot.core import clock
from moot.core.tx import ReadTx
from moot.ledger.budgets import Share
from moot.ledger.usage import Usage
from moot.registry import instances, runs
from moot.registry.instances import Instance
from moot.registry.runs import Run
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource
from moot.workspaces import grounds

_LAST = 50  # messages
_MOST = 200
_MICROSECONDS = 1_000_000
_NOTHING: Plain = {
    "run": None, "usage": None, "agents": [], "plans": [], "flows": [], "reasons": [], "budget": [], "messages": [],
}  # fmt: skip


def resources(at: Desk) -> list[Resource]:
    place = grounds.place(at.project.root)

    async def first(ask: Ask) -> Plain:
        limit = ask.limit(_LAST, _MOST)
        return await at.look(ask, lambda tx, instance: _look(tx, instance, place, limit))

    async def listed(ask: Ask) -> Plain:
        is_whole = ask.flag("all")
        return await at.store.read(lambda tx: _listed(tx, is_whole=is_whole))

    return [resource.get("/api/overview", first, "limit"), resource.get("/api/instances", listed, "all")]


def _look(tx: ReadTx, instance: Instance | None, place: str, limit: int) -> Plain:
    """What needs the person is told of all instances."""
    found: Plain = {"needs": needs.everywhere(tx), "now": clock.to_iso(tx.now)}
    if instance is None:
        return {**found, **_NOTHING}
    seen = overview.of(tx, instance, place)
    run = seen.status.run
    return {
        **found,
        **status.document(seen.status),
        "run": None if run is None else _run(run),
        "budget": [_share(one) for one in seen.budget],
        "usage": _usage(seen.used),
        "messages": [plain.message(one) for one in messages.latest(tx, instance.stream, limit)],
    }


def _listed(tx: ReadTx, *, is_whole: bool) -> Plain:
    left_out = frozenset[str]() if is_whole else runs.answered(tx)
    found = [one for one in instances.all_of(tx) if one.name not in left_out]
    return {"instances": [{"name": one.name, "created_at": clock.to_iso(one.created_at)} for one in found]}


def _run(run: Run) -> Plain:
    return {
        "id": run.id,
        "name": run.name,
        "source": run.source,
        "state": run.state,
        "phase": run.phase,
        "reason": run.reason,
        "is_paused": run.is_paused,
        "started_at": clock.to_iso(run.started_at),
        "ended_at": clock.to_iso(run.ended_at) if run.ended_at else None,
    }


def _share(share: Share) -> Plain:
    """Dollars, seconds, or a count."""
    parts = _MICROSECONDS if share.kind in ("cost", "time") else 1
    return {"kind": share.kind, "limit": share.limit / parts, "used": share.used / parts}


def _usage(used: Usage) -> Plain:
    return {
        "attempts": used.attempts,
        "tokens": used.tokens,
        "turns": used.turns,
        "cost": used.dollars,
        "is_estimated": used.is_estimated,
    }
