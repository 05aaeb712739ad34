"""The file of an SQLite store, looked at without making, migrating or locking it."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from moot.api import check
from moot.api.check import Check
from moot.core.errors import MootError
from moot.store import migrate
from moot.store.errors import StoreDamaged
from moot.store.sqlite import files, place

BUSY_MILLISECONDS = 2000
_HEADER = b"SQLite format 3\0"


def checks(file: Path) -> Iterator[Check]:
    yield check.guarded("place", lambda: _place(file))
    if not file.exists():
        yield check.ok("store", f"none yet at {file}; the first moot run, moot send or moot serve makes it")
        return
    if not file.is_file():
        yield check.problem("store", f"{file} is not a regular file.", "Move it away, or choose another with --store.")
        return
    if not file.stat().st_size:
        yield check.problem(
            "store",
            f"{file} is empty: it was cut off, or the disk was full when it was made.",
            "Restore a backup; or remove it, and the next moot run, moot send or moot serve begins anew.",
        )
        return
    try:
        with files.in_words(file), closing(_open(file)) as connection:
            version = connection.pragma("user_version")
            yield check.ok("store", str(file))
            yield _schema(int(version))
            yield _integrity(file, connection)
    except StoreDamaged as error:
        yield check.problem(
            "store", f"{error.code}: {error.fact}", _rescue(file) if _is_database(file) else error.remedy
        )
    except MootError as error:
        yield check.failed("store", error)


def is_current(file: Path) -> bool:
    """Whether opening it would change nothing."""
    try:
        with files.in_words(file), closing(_open(file)) as connection:
            return connection.pragma("user_version") == migrate.newest()
    except MootError:
        return False


def _open(file: Path) -> apsw.Connection:
    connection = apsw.Connection(os.fspath(file), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    return connection


def _place(file: Path) -> Check:
    folder = next(one for one in file.absolute().parents if one.exists())
    place.check(folder)
    if not folder.is_dir():
        return check.problem("place", f"{folder} is a file, where a folder is to be.", "Move it away.")
    if not os.access(folder, os.W_OK):
        return check.problem("place", f"{folder} cannot be written to.", "Choose another place with --store.")
    return check.ok("place", f"{folder} is local and writable")


def _schema(found: int) -> Check:
    newest = migrate.newest()
    if found > newest:
        return check.problem("schema", f"version {found}; this moot knows {newest}.", "Upgrade moot.")
    if found < newest:
        return check.ok("schema", f"version {found}; the next command brings it to {newest}")
    return check.ok("schema", f"version {found}")


def _integrity(file: Path, connection: apsw.Connection) -> Check:
    try:
        found = str(connection.pragma("quick_check"))
    except apsw.CorruptError as error:
        found = str(error)
    if found == "ok":
        return check.ok("integrity", "quick_check found nothing wrong")
    fact = f"The store is damaged: {found.splitlines()[0][:200]}"
    return check.problem("integrity", fact, _rescue(file))


def _is_database(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(_HEADER)) == _HEADER


def _rescue(file: Path) -> str:
    return f"Keep a copy of {file} and restore a backup; without one, try: sqlite3 {file} .recover"
