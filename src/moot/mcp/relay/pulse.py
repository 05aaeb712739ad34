"""Whether the server that holds a connection still lives: it is asked for a sign while somebody waits for an answer.

A process that is stopped keeps its connections and is given new ones by the kernel, so only its silence tells.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from moot.core.errors import MootError
from moot.mcp.relay import wire
from moot.mcp.relay.link import Link, Patience
from moot.mcp.relay.wire import Request, Unanswered


class ServerSilent(MootError):
    """There is a server, and it says nothing at all."""

    code = "SERVER_SILENT"


class Pulse:
    """Felt while `run()` runs."""

    def __init__(self, link: Link, patience: Patience) -> None:
        self._link = link
        self._patience = patience
        self._waits: set[asyncio.Timeout] = set()
        self._is_awaited = asyncio.Event()
        self._is_alive = asyncio.Event()
        self._is_alive.set()

    @asynccontextmanager
    async def felt(self) -> AsyncGenerator[None]:
        """Wait in here, for as long as an answer takes; ServerSilent once the server gives no sign of life."""
        await self._expect_recovery()
        wait = asyncio.timeout(None)
        try:
            async with wait:
                self._begin(wait)
                try:
                    yield
                finally:
                    self._end(wait)
        except TimeoutError:
            if not wait.expired():
                raise
            raise _silent() from None

    async def run(self) -> None:
        while True:
            await self._is_awaited.wait()
            await asyncio.sleep(self._patience.beat)
            if self._is_awaited.is_set():
                await self._check()

    async def _check(self) -> None:
        async with asyncio.TaskGroup() as group:
            sign = group.create_task(self._ask())
            # Twice: if this process was stopped as well, the first time is up before the server could answer.
            for _ in range(2):
                await asyncio.wait([sign], timeout=self._patience.silence)
            if not sign.done():
                self._give_up()
            # The same question is answered when the server goes on; new ones would fill its queue until then.
            await sign
        self._is_alive.set()

    async def _ask(self) -> None:
        try:
            async with wire.sent(Request("GET", {}, path="/health"), *await self._link.open()) as response:
                await response.body()
        except (OSError, Unanswered):
            return  # gone, not silent: who waits notices as well

    def _give_up(self) -> None:
        self._is_alive.clear()
        now = asyncio.get_running_loop().time()
        for wait in self._waits:
            wait.reschedule(now)
        self._waits.clear()

    async def _expect_recovery(self) -> None:
        if self._is_alive.is_set():
            return
        try:
            async with asyncio.timeout(self._patience.beat):
                await self._is_alive.wait()
        except TimeoutError:
            raise _silent() from None

    def _begin(self, wait: asyncio.Timeout) -> None:
        self._waits.add(wait)
        self._is_awaited.set()

    def _end(self, wait: asyncio.Timeout) -> None:
        self._waits.discard(wait)
        if not self._waits:
            self._is_awaited.clear()


def _silent() -> ServerSilent:
    return ServerSilent(
        "The moot server is there but gives no sign of life; what was asked may still be done when it goes on.",
        "Let its process go on (kill -CONT PID) or end it (kill -9 PID), then ask again.",
    )
