"""Plain JSON answers of the HTTP edge, sent straight over ASGI."""

from collections.abc import Mapping

from starlette.types import Send

from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.edge import refusals
from moot.edge.refusals import BodyTooSlow, HttpRefusal, ServerStopping
from moot.registry.errors import NotAuthenticated

Headers = tuple[tuple[bytes, bytes], ...]


async def send_json(send: Send, status: int, body: Mapping[str, Json], headers: Headers = ()) -> None:
    content = json.dump_bytes(body)
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(content)).encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": content})


async def refuse(send: Send, error: MootError) -> None:
    """Every refusal has the same shape."""
    facts = refusals.facts_of(error)
    if isinstance(error, HttpRefusal):
        # Only who does not finish is hung up on: over TCP that would take these words from anybody who still sends.
        ends: Headers = ((b"connection", b"close"),) if isinstance(error, BodyTooSlow | ServerStopping) else ()
        await send_json(send, error.status, {"error": facts}, ends)
    elif isinstance(error, NotAuthenticated):
        await send_json(send, 401, {"error": facts}, ((b"www-authenticate", b"Bearer"),))
    else:
        await send_json(send, 503, {"error": facts})
