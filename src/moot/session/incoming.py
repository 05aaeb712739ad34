"""Words that come for a session while it runs, from somebody who waits for them."""

import asyncio
from collections.abc import Awaitable, Callable

More = Callable[[], Awaitable[str]]


class Incoming:
    """Waits beside the session, one wait at a time. What has come belongs to the session, whatever else happens: it
    was handed out, and nobody else will be told."""

    def __init__(self, more: More | None) -> None:
        self._more = more
        self._task: asyncio.Future[str] | None = None

    def begin(self) -> None:
        if self._more is not None and self._task is None:
            self._task = asyncio.ensure_future(self._more())

    def take(self) -> str:
        """What has come since; empty if nothing has."""
        if self._task is None or not self._task.done():
            return ""
        task, self._task = self._task, None
        text = task.result()
        self.begin()
        return text

    async def stop(self) -> str:
        """Wait no more. It may have come in this very moment."""
        task, self._task = self._task, None
        if task is None:
            return ""
        task.cancel()
        await asyncio.wait([task])
        return "" if task.cancelled() else task.result()
