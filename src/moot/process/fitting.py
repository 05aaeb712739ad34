"""JSON Schemas of people, applied to what models write: at once if nothing in them can take long, else in a process of
its own that is ended in time."""

import sys
from collections.abc import Mapping, Sequence
from typing import cast

from moot.core import json, schema_checker
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.process import child, environment
from moot.process.program import Program

SECONDS = 5.0
_SHORT = 100_000  # letters, which a plain schema is through with in a moment
_COSTLY = frozenset(("pattern", "patternProperties", "uniqueItems", "$ref", "$dynamicRef"))


async def mismatch(value: Json, schema: Mapping[str, Json], seconds: float = SECONDS) -> str | None:
    """What about the value does not fit."""
    asked = json.dump_bytes({"value": value, "schema": dict(schema)})
    if len(asked) <= _SHORT and _is_plain(schema):
        return schema_checker.mismatch(value, schema)
    late = f"to check it by its schema takes longer than {seconds:g} s"
    return await _told(asked, seconds, late=late, mute=schema_checker.NOT_APPLICABLE)


async def fault(schemas: Sequence[Mapping[str, Json]], seconds: float = SECONDS) -> str | None:
    """Why one of these is no schema, always found out in a process of its own: large ones take a second each."""
    asked = json.dump_bytes({"schemas": [dict(one) for one in schemas]})
    return await _told(asked, seconds, late=f"to read it takes longer than {seconds:g} s", mute="it cannot be read")


async def _told(asked: bytes, seconds: float, *, late: str, mute: str) -> str | None:
    finished = await child.run(
        Program(
            argv=(sys.executable, "-m", "moot.core.schema_checker"),
            env=environment.build(also=("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")),
            stdin=asked,
            deadline=seconds,
            grace=0.0,
        )
    )
    if finished.ended == "deadline":
        return late
    try:
        return cast("str | None", json.loads(finished.stdout))
    except InvalidInput:  # it has ended without a word
        return mute


def _is_plain(part: Json) -> bool:
    """Whether each part of it looks at each part of a value once. Names of properties count as well."""
    if isinstance(part, Mapping):
        return _COSTLY.isdisjoint(part) and all(_is_plain(one) for one in part.values())
    return all(_is_plain(one) for one in part) if isinstance(part, list) else True
