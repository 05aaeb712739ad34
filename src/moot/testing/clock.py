"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta

from moot.core import clock

START = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


class ManualClock:
    """Give it to a store; then leases and deadlines run out when `advance` says so, and never by waiting."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def micros(self) -> int:
        return clock.to_micros(self._now)

    def advance(self, seconds: float) -> None:
        """Forward only, as stored times never go back."""
        if seconds < 0:
            raise ValueError(f"A clock cannot be moved back by {-seconds:g} s.")
        self._now += timedelta(seconds=seconds)
