"""JSON as moot writes and reads it: compact, strict, UTF-8."""

from collections.abc import Mapping, Sequence
from typing import cast

import orjson

from moot.core.errors import InvalidInput

Scalar = str | int | float | bool | None
Json = Scalar | Sequence["Json"] | Mapping[str, "Json"]
Object = Mapping[str, Json]


def dumps(value: object) -> str:
    """Compact text; raises InvalidInput for what JSON cannot carry (lone surrogates, huge integers)."""
    return dump_bytes(value).decode()


def dump_bytes(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"This cannot be written as JSON: {error}.") from error


def sorted_bytes(value: object) -> bytes:
    """One spelling for equal values, for hashing."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def pretty(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def loads(text: str | bytes) -> Json:
    try:
        return cast(Json, orjson.loads(text))
    except ValueError as error:
        raise InvalidInput(f"This is not JSON: {error}.") from error


def load_object(text: str | bytes) -> dict[str, Json]:
    value = loads(text)
    if not isinstance(value, dict):
        raise InvalidInput("A JSON object is needed here.", "Write {…}.")
    return value
