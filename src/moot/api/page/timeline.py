"""What was done, one after the other, and what led to what."""

from moot.api import trace as tracing
from moot.api.page.desk import Desk, Plain
from moot.core import clock
from moot.core.tx import ReadTx
from moot.ledger import timeline
from moot.ledger.timeline import Entry
from moot.registry.instances import Instance
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource

_LAST = 100
_MOST = 200
_NODES = 2000


def resources(at: Desk) -> list[Resource]:
    async def listed(ask: Ask) -> Plain:
        agent, before, limit = ask.text("agent") or "", ask.text("before") or "", ask.limit(_LAST, _MOST)
        return await at.look(ask, lambda tx, instance: _listed(tx, instance, agent, before, limit))

    async def trace(ask: Ask) -> Plain:
        found = await tracing.of(at.seat(ask), ask.place["id"], ask.instance)
        nodes = tracing.document(found)
        return {"nodes": nodes[:_NODES], "is_cut": len(nodes) > _NODES}

    return [
        resource.get("/api/timeline", listed, "agent", "before", "limit"),
        resource.get("/api/trace/{id}", trace),
    ]


def _listed(tx: ReadTx, instance: Instance | None, agent: str, before: str, limit: int) -> Plain:
    """`next` is the place from which to look further back; none, if there is nothing more."""
    if instance is None:
        return {"operations": [], "next": None}
    found = timeline.entries(tx, instance.name, agent, before, limit + 1)
    shown = found[:limit]
    return {"operations": [_plain(one) for one in shown], "next": shown[-1].age if len(found) > limit else None}


def _plain(one: Entry) -> Plain:
    return {
        "id": one.id,
        "kind": one.kind,
        "name": one.name,
        "agent": one.agent,
        "attempt": one.attempt,
        "number": one.number,
        "state": one.state,
        "error": one.error,
        "started_at": clock.to_iso(one.started_at),
        "ended_at": clock.to_iso(one.ended_at) if one.ended_at else None,
    }
