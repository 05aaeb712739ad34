"""Durations as people write them: a number and a unit."""

import re
from datetime import timedelta

from moot.core.errors import InvalidInput

_SPELLING = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse(spelling: str) -> timedelta:
    """`500ms`, `30s`, `5m`, `2h`, `1d`."""
    found = _SPELLING.fullmatch(spelling.strip())
    if found is None:
        raise InvalidInput(
            f"{spelling[:40]!r} is not a duration.", "Write a number and a unit: 500ms, 30s, 5m, 2h, 1d."
        )
    try:
        return timedelta(seconds=float(found[1]) * _SECONDS[found[2]])
    except OverflowError:
        raise InvalidInput(f"{spelling[:40]!r} is longer than anything lasts.", "Write fewer digits.") from None


def checked(spelling: str) -> str:
    """The same spelling; ValueError if it is none, as forms of files report it."""
    try:
        parse(spelling)
    except InvalidInput as error:
        raise ValueError(error.fact) from error
    return spelling


def spell(duration: timedelta) -> str:
    """Short enough for a status line: `0.4 s`, `12 s`, `3 m 20 s`, `2 h 5 m`."""
    seconds = duration.total_seconds()
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} m {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} m"
