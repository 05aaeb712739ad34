"""Broadcasts: the events of an instance, read once for all who watch it. Nothing runs while nobody watches.

A viewer is no more than a place in the stream. Whoever takes long has nothing piling up here: what is not kept any
more it reads from the store.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager

from moot.core.errors import MootError
from moot.core.events import Page
from moot.core.ids import StreamId
from moot.store.store import Store
from moot.web import told
from moot.web.told import Place, Told

_KEPT = 2000  # events
_TOGETHER = 0.03  # what comes within this time is told at once
_AGAIN = 1.0  # after a store that could not be read

_log = logging.getLogger("moot.web")


class Broadcast:
    """What was told last in one stream."""

    def __init__(self, store: Store, stream: StreamId, newest: int) -> None:
        self.stream = stream
        self.newest = newest
        self.beats = 0
        self.viewers = 0
        self._store = store
        self._kept: deque[Told] = deque(maxlen=_KEPT)
        self._bell = asyncio.Event()

    def bell(self) -> asyncio.Event:
        """Rings with the next news or beat. To be taken before looking."""
        return self._bell

    def ring(self) -> None:
        ringing, self._bell = self._bell, asyncio.Event()
        ringing.set()

    def after(self, seq: int) -> list[Told] | None:
        """All that follows; None, if not all of it is kept."""
        missing = self.newest - seq
        if missing > len(self._kept):
            return None
        return [self._kept[index] for index in range(len(self._kept) - missing, len(self._kept))]

    async def read(self) -> None:
        """For ever."""
        while True:
            try:
                async for page in self._store.feed(self.stream).follow({self.stream: self.newest}):
                    await self._tell(page)
                    await asyncio.sleep(_TOGETHER)
            except MootError as error:
                _log.warning("events for the page could not be read: %s", error)
                await asyncio.sleep(_AGAIN)

    async def _tell(self, page: Page) -> None:
        self._kept.extend(await self._store.read(lambda tx: told.tell(tx, page.events)))
        self.newest = page.events[-1].seq
        self.ring()


class Broadcasts:
    """One for each instance that somebody watches."""

    def __init__(self, store: Store, beat: float) -> None:
        self.beat = beat  # seconds between two signs that the server is there
        self._store = store
        self._open: dict[StreamId, tuple[Broadcast, asyncio.Task[None]]] = {}
        self._group: asyncio.TaskGroup | None = None
        self.is_closed = False

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            while True:
                await asyncio.sleep(self.beat)
                self._beat()

    def close(self) -> None:
        """Everybody who watches is let go."""
        self.is_closed = True
        self._beat()

    def _beat(self) -> None:
        for broadcast, _ in self._open.values():
            broadcast.beats += 1
            broadcast.ring()

    @contextmanager
    def watched(self, end: Place) -> Generator[Broadcast]:
        """The one of a stream, which has come this far."""
        assert self._group is not None
        stream = end.stream
        if stream not in self._open:
            broadcast = Broadcast(self._store, stream, end.seq)
            self._open[stream] = broadcast, self._group.create_task(broadcast.read())
        broadcast, reading = self._open[stream]
        broadcast.viewers += 1
        try:
            yield broadcast
        finally:
            broadcast.viewers -= 1
            if not broadcast.viewers:
                del self._open[stream]
                reading.cancel()
