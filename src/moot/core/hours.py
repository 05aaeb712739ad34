"""Time that can be made to stand still: what somebody has to wait for counts for no limit of its own, and what a person
is waited for counts for nobody's."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from weakref import WeakSet


class Hours:
    """The working time of one attempt, with all limits that are running in it."""

    def __init__(self) -> None:
        self._waiting = 0
        self._since = 0.0  # when it was made to stand still, by the clock of the loop
        self._stood = 0.0  # for how long in all
        self._running: dict[asyncio.Timeout, float] = {}
        self._parts: WeakSet[Hours] = WeakSet()

    def part(self) -> "Hours":
        """Hours that stand still with these, and also by themselves."""
        part = Hours()
        if self._waiting:
            part._stop()
        self._parts.add(part)
        return part

    def now(self) -> float:
        moment = self._since if self._waiting else asyncio.get_running_loop().time()
        return moment - self._stood

    @asynccontextmanager
    async def until(self, end: float | None) -> AsyncGenerator[None]:
        """What is done within is cut off by a TimeoutError when it is that late."""
        async with asyncio.timeout_at(None if end is None or self._waiting else end + self._stood) as timeout:
            if end is not None:
                self._running[timeout] = end
            try:
                yield
            finally:
                self._running.pop(timeout, None)

    @contextmanager
    def stand_still(self) -> Generator[None]:
        """While at least one is in here, for all who go by these hours."""
        self._stop()
        try:
            yield
        finally:
            self._go_on()

    def _stop(self) -> None:
        self._waiting += 1
        if self._waiting > 1:
            return
        self._since = asyncio.get_running_loop().time()
        for timeout in self._awaited():
            timeout.reschedule(None)
        for part in self._parts:
            part._stop()

    def _go_on(self) -> None:
        self._waiting -= 1
        if self._waiting:
            return
        self._stood += asyncio.get_running_loop().time() - self._since
        for timeout in self._awaited():
            timeout.reschedule(self._running[timeout] + self._stood)
        for part in self._parts:
            part._go_on()

    def _awaited(self) -> list[asyncio.Timeout]:
        """Without those that are over, and whose work has not come to its end yet."""
        return [one for one in self._running if not one.expired()]
