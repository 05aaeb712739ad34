"""The embedded store: one SQLite file in WAL mode, safe between processes of one machine."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from moot.core.caller import Caller
from moot.core.clock import Clock, SystemClock, to_micros
from moot.core.ids import StreamId
from moot.core.tx import ReadTx, Tx
from moot.store import migrate, place, queries
from moot.store.errors import StoreDamaged, StoreInUse, StoreNotFound, StorePlaceRefused, StoreTooNew
from moot.store.feed import Feed
from moot.store.nudge import Nudges
from moot.store.sqlite_tx import SqliteTx
from moot.store.store import Limits
from moot.store.turnstile import Turnstile
from moot.store.wakes import Signal, Wakes
from moot.store.writer import Desk, Writer

sql = queries.beside(__file__)
T = TypeVar("T")
_BACKSTOP_SECONDS = 1.0
_BUSY_MILLISECONDS = 10_000


class SqliteStore:
    """Open with `open_file` or `open_memory`. Reads happen on the caller's thread, writes on the writer's."""

    def __init__(self, file: Path, clock: Clock, limits: Limits, *, synchronous: str, is_ours: bool) -> None:
        self._file = file
        self._clock = clock
        self._is_ours = is_ours
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wakes = Wakes()
        self._nudges = Nudges(file.parent / "wake")
        self._turnstile = Turnstile(file)
        self._backstop: asyncio.TimerHandle | None = None
        self._seen = 0
        self._reader = connect(file, synchronous)
        desk = Desk(
            open=lambda: connect(file, synchronous),
            turnstile=self._turnstile,
            clock=clock,
            limits=limits,
            version=migrate.newest(),
            after_commit=self._after_commit,
        )
        self._writer = Writer(desk)

    @property
    def folder(self) -> Path:
        return self._file.parent

    async def write(self, change: Callable[[Tx], T], /, *, caller: Caller) -> T:
        result: T = await self._writer.submit(change, caller)
        return result

    async def read(self, look: Callable[[ReadTx], T], /) -> T:
        """At once, on this thread: a read takes microseconds and a thread hop would cost more."""
        self._reader.execute("begin")
        try:
            return look(SqliteTx(self._reader, self._clock))
        finally:
            self._reader.execute("rollback")

    @contextmanager
    def listen(self) -> Iterator[Signal]:
        if not self._wakes.is_heard:
            self._start_hearing()
        try:
            with self._wakes.listen() as signal:
                yield signal
        finally:
            if not self._wakes.is_heard:
                self._stop_hearing()

    def feed(self, stream: StreamId | None = None) -> Feed:
        return Feed(self, stream)

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close)
        self._stop_hearing()
        self._reader.close()
        self._nudges.close()
        self._turnstile.close()
        if self._is_ours:
            shutil.rmtree(self._file.parent, ignore_errors=True)

    def _start_hearing(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._nudges.receive(self._wakes.ring)
        self._seen = self._data_version()
        self._backstop = self._loop.call_later(_BACKSTOP_SECONDS, self._look)

    def _stop_hearing(self) -> None:
        self._nudges.stop_receiving()
        if self._backstop is not None:
            self._backstop.cancel()
            self._backstop = None

    def _look(self) -> None:
        """The backstop: a nudge can be lost, a changed file cannot."""
        assert self._loop is not None
        seen = self._data_version()
        if seen != self._seen:
            self._seen = seen
            self._wakes.ring()
        self._backstop = self._loop.call_later(_BACKSTOP_SECONDS, self._look)

    def _data_version(self) -> int:
        return int(self._reader.pragma("data_version"))

    def _after_commit(self) -> None:
        """On the writer thread."""
        self._nudges.send()
        loop = self._loop
        if loop is not None and self._wakes.is_heard and not loop.is_closed():
            loop.call_soon_threadsafe(self._wakes.ring)


def open_file(
    file: Path,
    *,
    create: bool,
    clock: Clock | None = None,
    limits: Limits | None = None,
) -> SqliteStore:
    """Open the store in this file; with `create`, make and migrate it when needed."""
    if not create and not file.exists():
        raise StoreNotFound(f"There is no store at {file}.", "Start one with moot serve, or send a message.")
    place.make_folder(file.parent)
    place.check(file.parent)
    source = clock or SystemClock()
    with _in_words(file):
        _prepare(file, source, "full")
        return SqliteStore(file, source, limits or Limits(), synchronous="full", is_ours=False)


def open_memory(*, clock: Clock | None = None, limits: Limits | None = None) -> SqliteStore:
    """A store that lives as long as it is open: a private folder without fsync, not `:memory:`, whose readers would
    see what is not committed."""
    folder = Path(tempfile.mkdtemp(prefix="moot-"))
    source = clock or SystemClock()
    _prepare(folder / "moot.db", source, "off")
    return SqliteStore(folder / "moot.db", source, limits or Limits(), synchronous="off", is_ours=True)


def connect(file: Path, synchronous: str) -> apsw.Connection:
    """A connection with our settings. Every process and thread has its own."""
    connection = apsw.Connection(str(file))
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", synchronous)
    connection.pragma("foreign_keys", True)
    connection.pragma("journal_size_limit", 64 << 20)
    return connection


def _prepare(file: Path, clock: Clock, synchronous: str) -> None:
    """Create or migrate, alone: two processes may open a new store at the same moment."""
    connection = connect(file, synchronous)
    file.chmod(0o600)
    try:
        if _is_current(connection, file):
            return
        connection.execute("begin immediate")
        try:
            _migrate(connection, clock)
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise
    finally:
        connection.close()


def _is_current(connection: apsw.Connection, file: Path) -> bool:
    found, newest = int(connection.pragma("user_version")), migrate.newest()
    if found > newest:
        raise StoreTooNew(
            f"{file} was written by a newer moot (version {found}; this one knows {newest}).", "Upgrade moot."
        )
    return found == newest


def _migrate(connection: apsw.Connection, clock: Clock) -> None:
    found = int(connection.pragma("user_version"))
    if found > 0 and found < migrate.newest():
        alive = connection.execute(sql.hosts_alive.sqlite, {"now": to_micros(clock.now())}).fetchall()
        if alive:
            raise StoreInUse(
                f"The store must be migrated, and {len(alive)} host(s) still use it.", "Stop them first: moot stop --all."
            )
    for migration in migrate.migrations():
        if migration.version > found:
            connection.execute(migration.sql)
            connection.pragma("user_version", migration.version)


@contextmanager
def _in_words(file: Path) -> Iterator[None]:
    try:
        yield
    except apsw.NotADBError as error:
        raise StoreDamaged(f"{file} is not a moot store.", "Move it away, or choose another with --store.") from error
    except apsw.CorruptError as error:
        raise StoreDamaged(f"{file} is damaged: {error}.", "Keep a copy and run moot doctor.") from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StorePlaceRefused(
            f"{file} cannot be opened for writing: {error}.", "Check its permissions, or choose a place with --store."
        ) from error


