"""A request as plain data, with the names that tools and commands show."""

from moot.core import clock
from moot.core.json import Json
from moot.requests.requests import Request


def request(one: Request) -> dict[str, Json]:
    return {
        "id": one.id,
        "type": one.kind,
        "from": one.requester,
        "to": one.addressee,
        "title": one.title,
        "body": one.body,
        "options": list(one.options),
        "mode": one.mode,
        "hash": one.hash,
        "state": one.state,
        "answer": one.answer,
        "answered_by": one.answered_by,
        "message_id": one.message,
        "created_at": clock.to_iso(one.created_at),
        "expires_at": clock.to_iso(one.expires_at) if one.expires_at else None,
        "answered_at": clock.to_iso(one.answered_at) if one.answered_at else None,
    }
