"""Values as psycopg takes them; apsw converts what SQLite has no type for by itself."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from moot.core import clock
from moot.core.tx import Value

_PLAIN = frozenset((str, int, float, bytes, type(None)))  # by exact type: most values need no look beyond


def bound(values: Mapping[str, Value]) -> dict[str, Any]:
    """A statement's parameters: moments as microseconds, booleans as 0 and 1, all else as it is."""
    return {name: value if value.__class__ in _PLAIN else _stored(value) for name, value in values.items()}


def _stored(value: Value) -> str | int | float | bytes | None:
    if isinstance(value, datetime):
        return clock.to_micros(value)
    return int(value) if isinstance(value, bool) else value
