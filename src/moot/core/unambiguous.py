"""JSON of somebody who may say two things at once: a key that stands twice in one object is refused, where others take
the last of them without a word."""

import json as stdlib
from collections.abc import Mapping

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json


def loads(text: str) -> Json:
    value = json.loads(text)
    if text.count(":") != _keys(value):  # each key has one; whatever else has some, has them in words
        stdlib.loads(text, object_pairs_hook=_once)
    return value


def load_object(text: str) -> dict[str, Json]:
    return json.an_object(loads(text))


def _keys(value: Json) -> int:
    match value:
        case dict():
            return sum((_keys(one) for one in value.values() if isinstance(one, dict | list)), len(value))
        case list():
            return sum(_keys(one) for one in value)
        case _:
            return 0


def _once(pairs: list[tuple[str, Json]]) -> Mapping[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidInput(f"The key {key[:80]!r} stands twice in one object.", "Write it once.")
        found[key] = value
    return found
