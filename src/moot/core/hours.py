"""Time that can be made to stand still: what somebody has to wait for a person counts for nobody's limit."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager


class Hours:
    """The working time of one attempt, with all limits that are running in it."""

    def __init__(self) -> None:
        self._waiting = 0
        self._since = 0.0  # when it was made to stand still, by the clock of the loop
        self._stood = 0.0  # for how long in all
        self._running: dict[asyncio.Timeout, float] = {}

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
        """While at least one is in here, for all."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._since = loop.time()
            for timeout in self._awaited():
                timeout.reschedule(None)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._stood += loop.time() - self._since
                for timeout in self._awaited():
                    timeout.reschedule(self._running[timeout] + self._stood)

    def _awaited(self) -> list[asyncio.Timeout]:
        """Without those that are over, and whose work has not come to its end yet."""
        return [one for one in self._running if not one.expired()]
