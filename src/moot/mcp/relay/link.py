"""The way from a relay to its server: connects, waits a moment for a server that is gone, then has one started."""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from moot.core.errors import MootError
from moot.core.records import record
from moot.core.sockets import short_path
from moot.mcp.relay import turn
from moot.mcp.relay.wire import LIMIT

TakeOver = Callable[[], Awaitable[None]]

_log = logging.getLogger("moot.relay")


class NoServer(MootError):
    """Nobody serves, and nobody could be brought to."""

    code = "NO_SERVER"


@record
class Patience:
    """How long to wait, in seconds."""

    pause: float = 0.02  # between two tries to connect
    gone: float = 0.1  # before taking over
    turn: float = 5.0  # for another relay that is taking over
    give_up: float = 15.0  # until the client is told
    beat: float = 5.0  # between two signs of life that are asked for while a request waits
    silence: float = 5.0  # up to twice this for a sign of life


class Link:
    """Opens connections to the server's socket."""

    def __init__(self, socket: Path, take_over: TakeOver | None, patience: Patience) -> None:
        self._path = socket
        self._take_over = take_over
        self._patience = patience
        self._gone_since: float | None = None
        self._next_try = 0.0
        self._taking_over = asyncio.Lock()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """NoServer if there is none for too long."""
        started = time.monotonic()
        while True:
            try:
                found = await self.open()
            except OSError as error:
                if time.monotonic() - started > self._patience.give_up:
                    raise NoServer("No moot server answers.", "Start one: moot serve.") from error
                await self._wait()
            else:
                self._gone_since = None
                return found

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Once, OSError if nobody listens."""
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return await asyncio.open_unix_connection(short_path(self._path, folder), limit=LIMIT)
        finally:
            os.close(folder)

    async def _wait(self) -> None:
        now = time.monotonic()
        if self._gone_since is None:
            self._gone_since = now
            self._next_try = now + self._patience.gone
        if self._take_over is not None and now >= self._next_try:
            await self._take_over_once(self._take_over)
        await asyncio.sleep(self._patience.pause)

    async def _take_over_once(self, take_over: TakeOver) -> None:
        async with self._taking_over:
            if time.monotonic() < self._next_try:
                return  # somebody else has just tried
            with turn.taken(self._path) as is_ours:
                # Whoever had the turn before may serve by now.
                if (is_ours or self._has_waited()) and not await self._is_served():
                    await self._try_to(take_over)

    def _has_waited(self) -> bool:
        """Long enough for another relay, which may be stuck."""
        return self._gone_since is not None and time.monotonic() - self._gone_since > self._patience.turn

    async def _is_served(self) -> bool:
        try:
            _, writer = await self.open()
        except OSError:
            return False
        writer.close()
        return True

    async def _try_to(self, take_over: TakeOver) -> None:
        try:
            await take_over()
        except Exception as error:  # noqa: BLE001  # whatever stopped it, there may be a server later
            _log.warning("could not take over from the server that is gone: %s", error)
        self._next_try = time.monotonic() + 1
