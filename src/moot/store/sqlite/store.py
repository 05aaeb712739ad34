"""The embedded store: one SQLite file in WAL mode, safe between processes of one machine."""

import asyncio
import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from moot.core.caller import Caller
from moot.core.clock import Clock, SystemClock
from moot.core.ids import StreamId
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal, Wakes
from moot.store import migrate
from moot.store.errors import StoreNotFound
from moot.store.feed import Feed
from moot.store.sqlite import faults, files, place
from moot.store.sqlite.counters import Counters
from moot.store.sqlite.files import StoreFile
from moot.store.sqlite.group_commit import Means
from moot.store.sqlite.nudge import Nudges
from moot.store.sqlite.turnstile import Turnstile
from moot.store.sqlite.tx import SqliteTx
from moot.store.sqlite.writer import Writer
from moot.store.store import Limits

T = TypeVar("T")
_BACKSTOP_SECONDS = 1.0
_NOTHING = Counters()  # was counted by who reads


class SqliteStore:
    """Open with `open_file` or `open_memory`. Reads happen on the thread of the one event loop that uses it, and writes
    that need not wait; the others on the writer's."""

    def __init__(self, file: StoreFile, clock: Clock, limits: Limits, *, is_ours: bool = False) -> None:
        self._path = file.path
        self._place = os.fspath(file.path)  # for every commit: to spell out a Path takes as long as to look there
        self._clock = clock
        self._is_ours = is_ours
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hearing_thread: int | None = None
        self._wakes = Wakes()
        self._nudges = Nudges(file.path.with_name(file.path.name + "-wake"))
        self._backstop: asyncio.TimerHandle | None = None
        self._seen = 0
        self._reader = files.connect(file)
        self._reader.pragma("query_only", True)
        self._identity = files.identity(self._place)
        self._version = migrate.newest()
        means = Means(lambda: files.connect(file), self._find, self._check, clock, limits)
        self._writer = Writer(means, Turnstile(file.path), self._tell)

    @property
    def folder(self) -> Path:
        return self._path.parent

    def write(self, change: Callable[[Tx], T], /, *, caller: Caller) -> asyncio.Future[T]:
        return self._writer.submit(change, caller)

    async def read(self, look: Callable[[ReadTx], T], /) -> T:
        """At once, on this thread: a read takes microseconds and a thread hop would cost more."""
        try:
            self._reader.execute("begin")
            try:
                return look(SqliteTx(self._reader.cursor(), self._clock, _NOTHING))
            finally:
                if self._reader.in_transaction:  # an I/O error has ended it already
                    self._reader.execute("rollback")
        except apsw.Error as error:
            self._find()
            if (known := faults.named(error)) is not None:
                raise known from error
            raise

    @contextmanager
    def listen(self) -> Generator[Signal]:
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
        """What waits is still committed. Who listens is woken, looks, and finds the store closed."""
        self._stop_hearing()
        self._reader.close()  # before the writer's: whoever closes last moves the log into the file, and blocks
        self._wakes.ring()
        await asyncio.to_thread(self._writer.close)
        self._nudges.close()
        if self._is_ours:
            shutil.rmtree(self._path.parent, ignore_errors=True)

    def _check(self, connection: apsw.Connection) -> None:
        files.check_version(connection, self._version)

    def _find(self) -> None:
        """Every batch: a deleted file would take writes as before, and lose them."""
        if files.identity(self._place) != self._identity:
            raise StoreNotFound(
                f"{self._path} was removed or replaced while this process was running; nothing was written.",
                "Start it again.",
            )

    def _start_hearing(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._hearing_thread = threading.get_ident()
        with files.in_words(self._path):
            self._seen = self._data_version()
        self._nudges.receive(self._wakes.ring)
        self._backstop = self._loop.call_later(_BACKSTOP_SECONDS, self._look)

    def _stop_hearing(self) -> None:
        self._nudges.stop_receiving()
        if self._backstop is not None:
            self._backstop.cancel()
            self._backstop = None

    def _look(self) -> None:
        """The backstop: a nudge can be lost, a changed file cannot."""
        assert self._loop is not None
        self._backstop = self._loop.call_later(_BACKSTOP_SECONDS, self._look)
        try:
            seen = self._data_version()
        except apsw.Error:
            seen = -1  # whoever looks again meets the error
        if seen != self._seen:
            self._seen = seen
            self._wakes.ring()

    def _data_version(self) -> int:
        return int(self._reader.pragma("data_version"))

    def _tell(self) -> None:
        """On the thread that has committed."""
        self._nudges.send()
        if self._hearing_thread == threading.get_ident():
            self._wakes.ring()
        elif self._loop is not None and self._wakes.is_heard:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._wakes.ring)


def open_file(
    file: Path,
    *,
    create: bool,
    clock: Clock | None = None,
    limits: Limits | None = None,
    vfs: str | None = None,
) -> SqliteStore:
    """Open the store in this file; with `create`, make it when it is not there."""
    path = file.absolute()
    place.check(path.parent)
    if create:
        place.make_folder(path.parent)
    return _open(StoreFile(path, vfs=vfs), clock, limits, create=create)


def open_memory(*, clock: Clock | None = None, limits: Limits | None = None) -> SqliteStore:
    """A store that lives as long as it is open: a private folder without fsync, not `:memory:`, whose readers would
    see what is not committed."""
    folder = Path(tempfile.mkdtemp(prefix="moot-"))
    return _open(StoreFile(folder / "moot.db", "off"), clock, limits, create=True, is_ours=True)


def _open(
    file: StoreFile, clock: Clock | None, limits: Limits | None, *, create: bool, is_ours: bool = False
) -> SqliteStore:
    source = clock or SystemClock()
    with files.in_words(file.path):
        files.prepare(file, source, create=create)
        return SqliteStore(file, source, limits or Limits(), is_ours=is_ours)
