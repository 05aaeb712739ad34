"""The file of an embedded store: making it, migrating it, and connecting to it with our settings."""

import contextlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

import apsw

from moot.core.clock import Clock, to_micros
from moot.core.records import record
from moot.store import migrate, queries
from moot.store.errors import (
    StoreDamaged,
    StoreInUse,
    StoreNotFound,
    StorePlaceRefused,
    StoreTooNew,
    StoreUnavailable,
)
from moot.store.sqlite import faults
from moot.store.sqlite.turnstile import Turnstile

sql = queries.beside(__file__)
_APPLICATION = 0x6D6F6F74  # "moot", in the file's header
BUSY_MILLISECONDS = 10_000
_STATEMENTS = 500  # the last to be run stay prepared; with 100, those that begin and end an attempt did not


@record
class StoreFile:
    """Where a store is and how it is written; `vfs` names another of SQLite's ways to the disk (tests do)."""

    path: Path
    synchronous: Literal["full", "off"] = "full"
    vfs: str | None = None


def prepare(file: StoreFile, clock: Clock, *, create: bool) -> None:
    """Bring the store to the version this moot knows; with `create`, make it when it is not there."""
    if create:
        with contextlib.suppress(FileExistsError):
            # Not left to SQLite, which would let everybody read it.
            os.close(os.open(file.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    elif not file.path.exists():
        raise _not_found(file.path)
    if not file.path.is_file():
        raise _refused(file.path, "it is not a regular file")
    with contextlib.closing(_open(file)) as connection:
        found = _version(connection, file.path)
        if found == 0 and not create:
            raise _not_found(file.path)
        if found < migrate.newest():
            # In turn: of two that switch a new file to WAL, one fails at once, whatever the timeout.
            with contextlib.closing(Turnstile(file.path)) as turnstile, turnstile:
                _configure(connection, file)
                _migrate(connection, clock)


def connect(file: StoreFile) -> apsw.Connection:
    """A connection with our settings. Every process and thread has its own."""
    connection = _open(file)
    _configure(connection, file)
    return connection


def identity(path: str) -> tuple[int, int] | None:
    """Which file is at this path; None if none is. A file that is still open never shares it with a new one."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_version(connection: apsw.Connection, known: int) -> None:
    """Raise unless the store is what this process knows. In a transaction, because a migration may come between."""
    if (found := connection.execute("pragma user_version").get) != known:  # half the time of connection.pragma
        raise StoreUnavailable(
            f"The store was migrated to version {found} while this process was running; nothing was written.",
            "Start it again.",
        )


@contextmanager
def in_words(path: Path) -> Generator[None]:
    """What can go wrong while opening, as facts about this file."""
    try:
        yield
    except apsw.NotADBError as error:
        raise _foreign(path) from error
    except apsw.CorruptError as error:
        raise StoreDamaged(f"{path} is damaged: {error}.", "Keep a copy and run moot doctor.") from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise _refused(path, str(error)) from error
    except apsw.Error as error:
        if (known := faults.named(error)) is not None:
            raise known from error
        raise
    except OSError as error:
        place = Path(error.filename) if isinstance(error.filename, str) else path  # of one beside it, perhaps
        is_in_the_way = isinstance(error, FileExistsError | IsADirectoryError | NotADirectoryError)
        refused = _in_the_way(place) if is_in_the_way else _refused(place, error.strerror or str(error))
        raise faults.no_room(error) or refused from error


def _open(file: StoreFile) -> apsw.Connection:
    # Without locks of its own, which take a while at every step: a connection is used by one thread at a time.
    path, flags = os.fspath(file.path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX
    connection = apsw.Connection(path, flags=flags, vfs=file.vfs, statementcachesize=_STATEMENTS)
    if connection.readonly("main"):  # SQLite's second best, when writing is not allowed
        connection.close()
        raise _refused(file.path, "it is read-only")
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    return connection


def _configure(connection: apsw.Connection, file: StoreFile) -> None:
    if (mode := connection.pragma("journal_mode", "wal")) != "wal":
        raise _refused(file.path, f"its journal stays {mode!r}, which lets no two processes in")
    connection.convert_binding = _stored
    # One plan for all values. Else SQLite, with its STAT4, prepares many a statement anew whenever a value is bound.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("temp_store", "memory")  # a savepoint copies every page it changes: not into a file
    connection.pragma("synchronous", file.synchronous)
    connection.pragma("fullfsync", True)  # macOS: fsync alone leaves the data in the drive's cache
    connection.pragma("foreign_keys", True)
    connection.pragma("journal_size_limit", 64 << 20)


def _stored(cursor: apsw.Cursor, number: int, value: object) -> int:
    """The stored form of what SQLite has no type for: moments."""
    assert isinstance(value, datetime), type(value)
    return to_micros(value)


def _version(connection: apsw.Connection, path: Path) -> int:
    """0 for an empty file. One snapshot, because another process may be making the store."""
    connection.execute("begin")
    application, found = connection.pragma("application_id"), connection.pragma("user_version")
    is_empty = not connection.execute(sql.has_tables.sqlite).fetchall()
    connection.execute("rollback")
    if application != _APPLICATION and not (is_empty and application == found == 0):
        raise _foreign(path)
    if found > migrate.newest():
        raise StoreTooNew(
            f"{path} was written by a newer moot (version {found}; this one knows {migrate.newest()}).",
            "Upgrade moot.",
        )
    return int(found)


def _migrate(connection: apsw.Connection, clock: Clock) -> None:
    """All steps in one transaction, unless another process was quicker. Closing the connection undoes a failed one."""
    connection.execute("begin immediate")
    found = int(connection.pragma("user_version"))
    if 0 < found < migrate.newest():
        _refuse_while_in_use(connection, clock)
    for migration in migrate.migrations():
        if migration.version > found:
            connection.execute(migration.sql)
            connection.pragma("user_version", migration.version)
    if found == 0:
        connection.pragma("application_id", _APPLICATION)
    connection.execute("commit")


def _refuse_while_in_use(connection: apsw.Connection, clock: Clock) -> None:
    alive = connection.execute(sql.hosts_alive.sqlite, {"now": to_micros(clock.now())}).fetchall()
    if alive:
        raise StoreInUse(
            f"The store must be migrated, and {len(alive)} host(s) still use it.",
            "End them first (Ctrl-C in each moot serve). One that was killed counts for half a minute.",
        )


def _not_found(path: Path) -> StoreNotFound:
    return StoreNotFound(f"There is no store at {path}.", "Begin with moot run FILE, or change to your project.")


def _foreign(path: Path) -> StoreDamaged:
    return StoreDamaged(f"{path} is not a moot store.", "Move it away, or choose another with --store.")


def _in_the_way(path: Path) -> StorePlaceRefused:
    return StorePlaceRefused(f"{path} is not what the store needs there.", "Move it away, or choose another place.")


def _refused(path: Path, reason: str) -> StorePlaceRefused:
    return StorePlaceRefused(
        f"{path} cannot be opened for writing: {reason}.",
        "Check its permissions, or choose a place with --store.",
    )
