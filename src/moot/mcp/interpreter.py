"""Brings the MCP library in when somebody first speaks MCP: loading it takes a second, and most runs never need it."""

import asyncio
from typing import TYPE_CHECKING

from moot.mcp.notices import Notices
from moot.mcp.sessions import Sessions
from moot.store.store import Store
from moot.tools.around import Around

if TYPE_CHECKING:
    from moot.mcp.speaker import Speaker


class Interpreter:
    """Waits to be needed, then lets a speaker work until dismissed."""

    def __init__(self, store: Store, notices: Notices, sessions: Sessions, around: Around) -> None:
        self._store = store
        self._notices = notices
        self._sessions = sessions
        self._around = around
        self._is_needed = asyncio.Event()
        self._is_dismissed = asyncio.Event()
        self._found: asyncio.Future[Speaker] | None = None
        self._speaker: Speaker | None = None

    async def speaker(self) -> "Speaker":
        if self._speaker is not None:
            return self._speaker
        if self._found is None:
            self._found = asyncio.get_running_loop().create_future()
            self._is_needed.set()
        return await asyncio.shield(self._found)

    async def run(self) -> None:
        """In a task of its own: the library's scopes must nest with all others of their task."""
        await self._is_needed.wait()
        if self._is_dismissed.is_set():
            return
        assert self._found is not None
        try:
            made = (await asyncio.to_thread(load))(self._store, self._notices, self._sessions, self._around)
        except Exception as error:  # noqa: BLE001  # the requests that wait for it say it
            self._found.set_exception(error)
            return
        if self._is_dismissed.is_set():
            self._found.cancel()
            return
        async with made.running():
            self._speaker = made
            self._found.set_result(made)
            await self._is_dismissed.wait()

    def dismiss(self) -> None:
        self._is_dismissed.set()
        self._is_needed.set()

    def break_off(self) -> None:
        """Answer the calls that still wait: the server is going."""
        if self._speaker is not None:
            self._speaker.break_off()


def load() -> "type[Speaker]":
    from moot.mcp.speaker import Speaker  # noqa: PLC0415

    return Speaker
