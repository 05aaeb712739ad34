"""The body of a request: read whole, capped in size and time, and checked to be one sound JSON-RPC message.

MCP's own parsers differ from one another in what they let through; what passes here means the same to all of them.
"""

import asyncio
import json as stdlib_json
import re
from collections.abc import Iterable
from typing import Any, cast

import orjson
from starlette.types import Message, Receive

from moot.core.json import Json
from moot.core.records import record
from moot.mcp.refusals import BodyTooLarge, BodyTooSlow

CAP = 4 << 20
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
_TIME = 30.0
_SUSPECT = re.compile(rb"\\u0000|\d{19}")  # may be a NUL, may be a number that no database holds
_INT64 = range(-(1 << 63), 1 << 63)


@record
class Problem:
    """Why a body is not taken, in JSON-RPC's terms."""

    code: int
    message: str
    remedy: str
    id: str | int | None = None

    def answer(self) -> dict[str, Json]:
        facts = {"code": "INVALID_INPUT", "remedy": self.remedy}
        return {
            "jsonrpc": "2.0",
            "id": self.id,
            "error": {"code": self.code, "message": f"{self.message} {self.remedy}", "data": facts},
        }


class _Twice(ValueError):
    """A key appears more than once in one object."""


async def read(receive: Receive, declared: bytes | None) -> bytes:
    """All of it; BodyTooLarge past the cap, BodyTooSlow past the time, empty when the client went away."""
    if declared is not None and declared.isdigit() and int(declared) > CAP:
        raise _too_large()
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_TIME):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return b""
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > CAP:
                    raise _too_large()
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        raise BodyTooSlow(f"The body did not arrive within {_TIME:.0f} s.", "Send it at once.") from None


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
        # orjson refuses lone surrogates and infinities, and writes only what is not nested too deeply.
        orjson.dumps(orjson.loads(body))
        message: object = stdlib_json.loads(body, object_pairs_hook=_unique)
    except _Twice as twice:
        return Problem(INVALID_REQUEST, f"The key {str(twice)[:80]!r} appears twice in one object.", "Send it once.")
    except (ValueError, TypeError, RecursionError) as error:
        return Problem(PARSE_ERROR, f"This is not JSON that can be taken: {error}.", "Send one JSON-RPC object.")
    problem = _envelope_problem(message)
    if problem is not None:
        return problem
    sound = cast(dict[str, Any], message)
    return _value_problem(sound, body) or sound


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
    """Values that JSON carries and no database does. Only bodies that can hold some are walked."""
    if not _SUSPECT.search(body):
        return None
    waiting: list[object] = [message]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and "\0" in value:
            return Problem(
                INVALID_PARAMS, "There is a NUL character in it.", "Remove it and send again.", _id(message.get("id"))
            )
        if isinstance(value, int) and value not in _INT64:
            return Problem(
                INVALID_PARAMS, "There is a number beyond 64 bits in it.", "Send smaller ones.", _id(message.get("id"))
            )
        waiting.extend(_parts(value))
    return None


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        return (*fields.keys(), *fields.values())
    return cast(list[object], value) if isinstance(value, list) else ()


def _is_id(id: object) -> bool:
    return isinstance(id, str) or (isinstance(id, int) and not isinstance(id, bool))


def _id(id: object) -> str | int | None:
    """Fit to be repeated in an answer."""
    if isinstance(id, str):
        return id[:200]
    return id if isinstance(id, int) and id in _INT64 else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))
    return found


def _too_large() -> BodyTooLarge:
    return BodyTooLarge(f"The body is larger than {CAP >> 20} MiB.", "Send a file's path instead.")
