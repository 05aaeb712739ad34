"""A deadline that every request moves several times: moving it costs next to nothing."""

import asyncio
from collections.abc import Callable


class Deadline:
    """Its timer is seldom set anew: one that goes off too early looks when the time will be."""

    def __init__(self, loop: asyncio.AbstractEventLoop, passed: Callable[[], None]) -> None:
        self._loop = loop
        self._passed = passed
        self._at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = 0.0

    def set(self, seconds: float) -> None:
        self._at = self._loop.time() + seconds
        if self._timer is None or self._at < self._rings_at:
            self._ring(self._at)

    def clear(self) -> None:
        self._at = None

    def end(self) -> None:
        self._at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = at
        self._timer = self._loop.call_at(at, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._at is None:
            return
        if self._at > self._rings_at:
            self._ring(self._at)
        else:
            self._at = None
            self._passed()
