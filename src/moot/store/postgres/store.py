"""The shared store: one schema of a PostgreSQL database, for hosts on many machines."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from moot.core.caller import Caller
from moot.core.clock import Clock
from moot.core.ids import StreamId
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal, Wakes
from moot.store import migrate
from moot.store.feed import Feed
from moot.store.postgres import addresses, schema
from moot.store.postgres.session import Sessions, connect, start_session
from moot.store.postgres.transactions import Means, Patience, Transactions
from moot.store.postgres.wakes import Listener, Notifier
from moot.store.postgres.workers import Workers
from moot.store.store import Limits

T = TypeVar("T")
# Two sets of threads, so that writers who wait for each other's rows do not keep readers waiting.
_WRITERS = 8
_READERS = 4


class PostgresStore:
    """Open with `open_url`. Each worker thread uses one connection at a time."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._transactions = Transactions(means)
        self._writers = Workers(_WRITERS, "moot-write")
        self._readers = Workers(_READERS, "moot-read")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wakes = Wakes()
        sender = secrets.token_hex(8)
        self._notifier = Notifier(means.sessions.address, sender)
        self._listener = Listener(means.sessions.address, sender, lambda: self._wakes.is_heard, self._ring)

    def write(self, change: Callable[[Tx], T], /, *, caller: Caller) -> Awaitable[T]:
        return self._writers.do(lambda: self._commit(change, caller), self._means.limits.queued_seconds)

    async def read(self, look: Callable[[ReadTx], T], /) -> T:
        return await self._readers.do(lambda: self._transactions.read(look), self._means.limits.queued_seconds)

    @contextmanager
    def listen(self) -> Generator[Signal]:
        self._loop = asyncio.get_running_loop()
        with self._wakes.listen() as signal:
            self._listener.start()
            yield signal

    def feed(self, stream: StreamId | None = None) -> Feed:
        return Feed(self, stream)

    async def close(self) -> None:
        """Commits what waits, then ends."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._transactions.hurry()
        self._writers.close()
        self._readers.close()
        self._notifier.close()
        self._listener.close()
        self._means.sessions.close()

    def _commit(self, change: Callable[[Tx], T], caller: Caller) -> T:
        """On a writer thread."""
        result, has_news = self._transactions.write(change, caller)
        if has_news:
            self._notifier.notify()
            self._ring()
        return result

    def _ring(self) -> None:
        """From any thread."""
        loop = self._loop
        if loop is not None and self._wakes.is_heard:
            with contextlib.suppress(RuntimeError):  # that loop has ended, and its listeners with it
                loop.call_soon_threadsafe(self._wakes.ring)


def open_url(
    url: str,
    *,
    create: bool,
    clock: Clock | None = None,
    limits: Limits | None = None,
    patience: Patience | None = None,
) -> PostgresStore:
    """Open the store in this schema; with `create`, make it when it is not there. Migrates when needed."""
    sessions = Sessions(addresses.parse(url))
    connection = connect(sessions.address)
    try:
        schema.prepare(connection, sessions.address, create=create, clock=clock)
    except BaseException:
        connection.close()
        raise
    sessions.give_back(start_session(connection, sessions.address))
    return PostgresStore(Means(sessions, clock, limits or Limits(), patience or Patience(), version=migrate.newest()))
