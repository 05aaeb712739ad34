"""Mail for a session while it runs, from somebody who waits for it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from moot.core.json import Json
from moot.session.hearing import Heard

More = Callable[[], Awaitable[Heard | None]]


class Incoming:
    """Waits beside the session, one wait at a time. What has come belongs to the session, whatever else happens: it
    was handed out, and nobody else will be told."""

    calls_back = True

    def __init__(self, more: More) -> None:
        self._more = more
        self._task: asyncio.Future[Heard | None] | None = None

    def begin(self) -> None:
        if self._task is None:
            self._task = asyncio.ensure_future(self._more())

    def take(self) -> Heard | None:
        if self._task is None or not self._task.done():
            return None
        task, self._task = self._task, None
        found = task.result()
        self.begin()
        return found

    async def stop(self) -> Heard | None:
        task, self._task = self._task, None
        if task is None:
            return None
        if task.cancel():
            await asyncio.wait([task])
        return None if task.cancelled() else task.result()

    def was_told(self, facts: Mapping[str, Json]) -> None:
        """Mail that was handed out to an attempt stays with whoever began it."""
