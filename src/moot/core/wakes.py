"""Wake-ups inside one process: listeners learn that something was committed, not what."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class Signal:
    """One listener's bell. Clear it, look, and only then wait: a ring in between is not lost."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    @property
    def is_rung(self) -> bool:
        return self._rung.is_set()

    def clear(self) -> None:
        self._rung.clear()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self, seconds: float | None = None) -> bool:
        """True when rung, False when the time is up."""
        if self._rung.is_set():
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return False
        return True


class Wakes:
    """All listeners of one process. Lives on the event loop's thread."""

    def __init__(self) -> None:
        self._signals: set[Signal] = set()

    @property
    def is_heard(self) -> bool:
        return bool(self._signals)

    def ring(self) -> None:
        for signal in self._signals:
            signal.ring()

    @contextmanager
    def listen(self) -> Generator[Signal]:
        signal = Signal()
        self._signals.add(signal)
        try:
            yield signal
        finally:
            self._signals.discard(signal)
