"""Records as plain data for JSON, with the names that tools use. Keys are added, never renamed."""

from moot.api.connection import Member
from moot.bus.mailbox import Mail, Receipt
from moot.bus.plain import message as message
from moot.core import clock
from moot.core.events import StoredEvent
from moot.core.json import Json

Plain = dict[str, Json]


def mail(one: Mail) -> Plain:
    return {**message(one), "state": one.state}


def receipt(name: str, one: Receipt) -> Plain:
    return {
        "agent": name,
        "state": one.state,
        "delivered_at": clock.to_iso(one.delivered_at) if one.delivered_at else None,
        "acked_at": clock.to_iso(one.acked_at) if one.acked_at else None,
    }


def member(one: Member) -> Plain:
    agent = one.standing.agent
    return {
        "name": agent.name,
        "instance": agent.instance,
        "source": one.standing.source,
        "status": one.standing.state,
        "presence": one.standing.presence,
        "unread": one.unread,
        "parked": one.parked,
        "backend": agent.backend,
        "role": agent.role,
        "id": agent.id,
    }


def event(one: StoredEvent) -> Plain:
    return {
        "stream": one.stream,
        "seq": one.seq,
        "at": clock.to_iso(one.at),
        "kind": one.kind,
        "subject": one.subject,
        "actor": one.actor,
        "data": dict(one.data),
    }
