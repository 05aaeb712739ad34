"""JSON as moot writes and reads it: compact, strict, UTF-8."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from moot.core.errors import InvalidInput
from moot.core.undisturbed import undisturbed

with undisturbed():  # an interrupt in the middle of its import ends Python with a segmentation fault
    import orjson

_LEVELS = 250  # that orjson writes; it reads four times as many
Scalar = str | int | float | bool | None
Json = Scalar | Sequence["Json"] | Mapping[str, "Json"]


def dumps(value: object) -> str:
    """Compact text; raises InvalidInput for what JSON cannot carry (lone surrogates, huge integers, NaN)."""
    return _dump(value, 0).decode()


def dump_bytes(value: object) -> bytes:
    return _dump(value, 0)


def sorted_bytes(value: object) -> bytes:
    """One spelling for equal values, for hashing."""
    return _dump(value, orjson.OPT_SORT_KEYS)


def pretty(value: object) -> str:
    return _dump(value, orjson.OPT_INDENT_2).decode()


def _dump(value: object, option: int) -> bytes:
    try:
        written = orjson.dumps(value, option=option)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"This cannot be written as JSON: {error}.") from error
    # orjson writes NaN and infinity as null; only where there is a null can there be one. (`in` would first try to take
    # the word for a number, and make an error of it that nobody sees.)
    if written.find(b"null") >= 0 and not _is_finite(value):
        raise InvalidInput("This cannot be written as JSON: a number in it is not finite.")
    return written


def _is_finite(value: Any) -> bool:
    match value:
        case float():
            return math.isfinite(value)
        case dict():
            return all(_is_finite(one) for one in value.values())  # pyright: ignore[reportUnknownVariableType]
        case list() | tuple():
            return all(_is_finite(one) for one in value)  # pyright: ignore[reportUnknownVariableType]
        case _:
            return True


def loads(text: str | bytes) -> Json:
    try:
        value = cast(Json, orjson.loads(text))
    except ValueError as error:
        raise InvalidInput(f"This is not JSON: {error}.") from error
    if _may_be_deep(text):
        _dump(value, 0)  # what is taken in can be written down
    return value


def _may_be_deep(text: str | bytes) -> bool:
    if len(text) < 2 * _LEVELS:
        return False
    openings = text.count("{") + text.count("[") if isinstance(text, str) else text.count(b"{") + text.count(b"[")
    return openings > _LEVELS


def load_object(text: str | bytes) -> dict[str, Json]:
    return an_object(loads(text))


def an_object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise InvalidInput("A JSON object is needed here.", "Write {…}.")
    return value
