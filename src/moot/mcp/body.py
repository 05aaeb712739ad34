"""The body of a request: checked to be one sound JSON-RPC message.

MCP's own parsers differ from one another in what they let through; what passes here means the same to all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from starlette.types import Message, Receive

from moot.core.json import Json
from moot.core.records import record
from moot.edge import bodies
from moot.edge.bodies import Twice

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, UNSUPPORTED_VERSION = -32700, -32600, -32602, -32022


@record
class Problem:
    """Why a body is not taken, in JSON-RPC's terms."""

    code: int
    message: str
    remedy: str
    id: str | int | None = None
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])  # that MCP itself has words for

    def answer(self) -> dict[str, Json]:
        facts = {"code": "INVALID_INPUT", "remedy": self.remedy, **self.facts}
        return {
            "jsonrpc": "2.0",
            "id": self.id,
            "error": {"code": self.code, "message": f"{self.message} {self.remedy}", "data": facts},
        }


def replay(body: bytes, receive: Receive) -> Receive:
    """The body once more for whoever reads next, then what comes after it."""
    is_read = False

    async def again() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def parse(body: bytes) -> dict[str, Any] | Problem:
    """The message, or what is wrong with it."""
    try:
        message = bodies.load(body)
    except Twice as twice:
        return Problem(INVALID_REQUEST, f"The key {str(twice)[:80]!r} appears twice in one object.", "Send it once.")
    except (ValueError, TypeError, RecursionError) as error:
        return Problem(PARSE_ERROR, f"This is not JSON that can be taken: {error}.", "Send one JSON-RPC object.")
    problem = _envelope_problem(message)
    if problem is not None:
        return problem
    sound = cast(dict[str, Any], message)
    return _value_problem(sound, body) or sound


def unsupported(message: Mapping[str, Any], version: str, spoken: Sequence[str]) -> Problem:
    """For a message in a revision of MCP that is not spoken here."""
    return Problem(
        UNSUPPORTED_VERSION,
        f"The MCP-Protocol-Version {version[:80]!r} is not supported.",
        f"Send one of {', '.join(spoken)}.",
        _id(message.get("id")),
        {"requested": version[:80], "supported": list(spoken)},
    )


def _envelope_problem(message: object) -> Problem | None:
    if isinstance(message, list):
        return Problem(INVALID_REQUEST, "Batches are not taken.", "Send one message at a time.")
    if not isinstance(message, dict):
        return Problem(INVALID_REQUEST, "This is not a JSON-RPC message.", "Send one JSON-RPC object.")
    fields = cast(dict[str, object], message)
    id = fields.get("id")
    if fields.get("jsonrpc") != "2.0":
        return Problem(INVALID_REQUEST, "This is not JSON-RPC 2.0.", 'Send "jsonrpc": "2.0".')
    if "id" in fields and not _is_id(id):
        return Problem(INVALID_REQUEST, "The id is neither a string nor a whole number.", "Send such an id.")
    if "method" in fields and not isinstance(fields["method"], str):
        return Problem(INVALID_REQUEST, "The method is not a string.", "Name a method.", _id(id))
    if "method" in fields and not isinstance(fields.get("params", {}), dict):
        return Problem(INVALID_PARAMS, "The params are not an object.", "Send an object.", _id(id))
    if "method" not in fields and not ("result" in fields or "error" in fields):
        return Problem(INVALID_REQUEST, "This has neither method nor result.", "Name a method.", _id(id))
    return None


def _value_problem(message: dict[str, Any], body: bytes) -> Problem | None:
    found = bodies.fault(message, body)
    return found and Problem(INVALID_PARAMS, found.fact, found.remedy, _id(message.get("id")))


def _is_id(id: object) -> bool:
    return isinstance(id, str) or (isinstance(id, int) and not isinstance(id, bool))


def _id(id: object) -> str | int | None:
    """Fit to be repeated in an answer."""
    if isinstance(id, str):
        return id[:200]
    return id if isinstance(id, int) and id in bodies.INT64 else None
