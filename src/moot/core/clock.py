"""Time as a dependency, so that tests can hold it still."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where a process reads the wall clock from."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's own clock, in UTC."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), UTC)


def to_micros(moment: datetime) -> int:
    """The stored form of a moment: whole microseconds since 1970, UTC."""
    return round((moment - EPOCH).total_seconds() * 1_000_000)


def from_micros(micros: int) -> datetime:
    return datetime.fromtimestamp(micros // 1_000_000, UTC).replace(microsecond=micros % 1_000_000)


def to_iso(moment: datetime) -> str:
    """The form people and tools read: `2026-01-31T09:30:00.123456Z`, sortable as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
