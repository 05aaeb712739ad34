"""Keeps the documents of all instances and their files together for as long as a host runs."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from moot.core.errors import MootError
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.core.wakes import Signal
from moot.documents import documents
from moot.registry import instances
from moot.store.errors import StoreNotFound
from moot.store.store import Store
from moot.views.documents import Memory, synchronise
from moot.views.keeping import kept

_log = logging.getLogger("moot.views")
_LAST_LOOKS = 20


@record
class Rhythm:
    """How often the disk is looked at; nothing tells us that a person has saved a file."""

    scan_seconds: float = 2.0
    pause_seconds: float = 0.2  # at least, between two looks at a busy store
    settle_seconds: float = 0.5  # a file that is younger may be half-written
    last_seconds: float = 0.1  # between two tries to have the last look


class DocumentKeeper:
    """`keeping` while a block runs, or `look` once."""

    def __init__(self, store: Store, above: Path, rhythm: Rhythm | None = None) -> None:
        self._store = store
        self._above = above
        self._rhythm = rhythm or Rhythm()
        self._memories: dict[InstanceName, Memory] = {}
        self._heads: dict[InstanceName, int] = {}

    def keeping(self) -> AbstractAsyncContextManager[None]:
        """While the block runs, and once more when it has ended."""
        return kept(self.run, self._last_look, "documents")

    async def run(self) -> None:
        """After every change of a document, and every few seconds."""
        with self._store.listen() as signal:
            while True:
                signal.clear()
                try:
                    await self.look(settle=self._rhythm.settle_seconds)
                    await self._until_news(signal)
                except StoreNotFound:
                    return  # there is nothing left to keep
                except (MootError, OSError) as error:
                    _log.warning("documents could not be brought to disk: %s", error)
                    await asyncio.sleep(self._rhythm.scan_seconds)

    async def look(self, only: InstanceName | None = None, *, settle: float = 0.0) -> bool:
        """Bring files and documents together once; False if another process was at it somewhere."""
        self._heads = await self._store.read(documents.heads)
        done = True
        for name in [only] if only else await self._store.read(_names):
            memory = self._memories.setdefault(name, Memory())
            try:
                done = await synchronise(self._store, self._above, name, memory, settle=settle) and done
            except OSError as error:
                _log.warning("the documents of %s could not be brought to disk: %s", name, error)
        return done

    async def _last_look(self) -> None:
        """Another process that was at it may have read before our last change, and may be gone before the next."""
        for _ in range(_LAST_LOOKS):
            if await self.look():
                return
            await asyncio.sleep(self._rhythm.last_seconds)
        _log.warning("another process brings the documents to disk")

    async def _until_news(self, signal: Signal) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._rhythm.scan_seconds
        while (left := until - loop.time()) > 0:
            await asyncio.sleep(min(left, self._rhythm.pause_seconds))
            signal.clear()
            if await self._store.read(documents.heads) != self._heads:
                return
            await signal.wait(max(until - loop.time(), 0))


def _names(tx: ReadTx) -> list[InstanceName]:
    return [instance.name for instance in instances.all_of(tx)]
