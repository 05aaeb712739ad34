"""Events that programs print, and their fields, taken as they are: whatever is missing or of another kind is empty."""

import json as lenient
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json

_NOTHING: Mapping[str, Json] = {}
_LONE = re.compile(r"[\ud800-\udfff]")
_MILLISECONDS = 1e11  # more than that are no seconds: of the year 5138
# What is not read of the last event is that it is the last: its program waits for the end of its input.
_LAST = re.compile(r'"type"\s*:\s*"result"')
_UNREADABLE: Mapping[str, Json] = {
    "type": "result",
    "subtype": "error_unreadable",
    "is_error": True,
    "result": "what it said at its end could not be read",
}


def event(line: str) -> Mapping[str, Json] | None:
    """What one line says; None if it is no event."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        return json.load_object(line)
    except InvalidInput:
        return _leniently(line)


def _leniently(line: str) -> Mapping[str, Json] | None:
    """With half a character, or numbers that are none: others than ours write such a thing."""
    try:
        found: object = lenient.loads(line, parse_constant=lambda _: None)
        return cast(Mapping[str, Json], _whole(found))  # it began with a brace
    except (ValueError, RecursionError):
        return _UNREADABLE if _LAST.search(line) else None


def _whole(value: object) -> Json:
    match value:
        case str():
            return _LONE.sub("\ufffd", value)
        case dict():
            pairs = cast(dict[str, object], value).items()
            return {_LONE.sub("\ufffd", name): _whole(one) for name, one in pairs}
        case list():
            return [_whole(one) for one in cast(list[object], value)]
        case _:
            return cast(Json, value)


def text(event: Mapping[str, Json], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def number(event: Mapping[str, Json], name: str) -> float:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return value if math.isfinite(value) else 0


def moment(event: Mapping[str, Json], name: str) -> datetime | None:
    """A time in seconds or milliseconds since 1970; None if it is none."""
    value = number(event, name)
    seconds = value / 1000 if value > _MILLISECONDS else value
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds <= _MILLISECONDS else None


def count(event: Mapping[str, Json], *names: str) -> int:
    """The sum of what these fields hold."""
    return sum(int(number(event, name)) for name in names)


def part(event: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = event.get(name)
    return value if isinstance(value, Mapping) else _NOTHING


def parts(event: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    value = event.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [one for one in value if isinstance(one, Mapping)]
