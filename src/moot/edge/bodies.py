"""The body of a request: read whole, capped in size and time, and checked to be sound JSON that a database can keep."""

import asyncio
import json as stdlib_json
import re
from collections.abc import Iterable
from typing import Any, cast

import orjson
from starlette.types import Receive

from moot.core.records import record
from moot.edge.refusals import BodyTooLarge, BodyTooSlow

CAP = 4 << 20
_TIME = 30.0
_SUSPECT = re.compile(rb"\\u0000|\d{19}")  # may be a NUL, may be a number that no database holds
INT64 = range(-(1 << 63), 1 << 63)


class Twice(ValueError):
    """A key appears more than once in one object."""


@record
class Fault:
    """What JSON carries and no database does."""

    fact: str
    remedy: str


async def read(receive: Receive, declared: bytes | None, cap: int = CAP) -> bytes:
    """All of it; BodyTooLarge past the cap, BodyTooSlow past the time, empty when the client went away."""
    if declared is not None and declared.isdigit() and int(declared) > cap:
        raise _too_large(cap)
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
                if size > cap:
                    raise _too_large(cap)
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        raise BodyTooSlow(f"The body did not arrive within {_TIME:.0f} s.", "Send it at once.") from None


def load(body: bytes) -> object:
    """What it says; Twice, or another ValueError, TypeError or RecursionError, if it is not sound."""
    # orjson refuses lone surrogates and infinities, and writes only what is not nested too deeply.
    orjson.dumps(orjson.loads(body))
    return stdlib_json.loads(body, object_pairs_hook=_unique)


def fault(value: object, body: bytes) -> Fault | None:
    """Of a sound value and the body that it was read from. Only bodies that can hold something bad are walked."""
    if not _SUSPECT.search(body):
        return None
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and "\0" in one:
            return Fault("There is a NUL character in it.", "Remove it and send again.")
        if isinstance(one, int) and one not in INT64:
            return Fault("There is a number beyond 64 bits in it.", "Send smaller ones.")
        waiting.extend(_parts(one))
    return None


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        return (*fields.keys(), *fields.values())
    return cast(list[object], value) if isinstance(value, list) else ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))
    return found


def _too_large(cap: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body is larger than {cap >> 20} MiB.", "Send a file's path instead.")
