"""Values as both databases store them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from moot.core import clock
from moot.core.tx import Value


def bound(values: Mapping[str, Value]) -> dict[str, Any]:
    """A statement's parameters: moments as microseconds, booleans as 0 and 1, all else as it is."""
    return {name: _stored(value) for name, value in values.items()}


def _stored(value: Value) -> str | int | float | bytes | None:
    if isinstance(value, datetime):
        return clock.to_micros(value)
    return int(value) if isinstance(value, bool) else value
