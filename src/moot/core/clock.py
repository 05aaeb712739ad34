"""Time as a dependency, so that tests can hold it still."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where a process reads the wall clock from."""

    def now(self) -> datetime: ...

    def micros(self) -> int:
        """The same as it is stored, which takes a tenth of the time."""
        ...


class SystemClock:
    """The machine's own clock, in UTC."""

    def now(self) -> datetime:
        return from_micros(self.micros())

    def micros(self) -> int:
        return time.time_ns() // 1000


def to_micros(moment: datetime) -> int:
    """The stored form of a moment: whole microseconds since 1970, UTC."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    return EPOCH + micros * MICROSECOND


def to_iso(moment: datetime) -> str:
    """The form people and tools read: `2026-01-31T09:30:00.123456Z`, sortable as text."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return f"{moment.isoformat(timespec='microseconds')[:-_OFFSET]}Z"


_OFFSET = len("+00:00")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
