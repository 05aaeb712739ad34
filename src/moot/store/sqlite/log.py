"""The log that SQLite commits to first: moved into the file by and by, and then started over.

Moving it takes as long as a dozen commits. So nearly all of it is moved while others go on committing, by a connection
of its own; only what they have added meanwhile, in a turn in which nobody writes, because while others write the log
has no end to start over from. No caller waits for more than that, or fails by it.

And it is given its length at once, when it is plain that much will be written: a commit that makes a file longer has
its new length to sync besides what it writes, which takes half as long again on a quick disk, and longer on others.
"""

import contextlib
import logging
import os
from collections.abc import Callable

import apsw

_log = logging.getLogger("moot.store")
_SOME_PAGES = 128  # then it is given room
_PIECE = 65536
_ROOM = 5 << 20  # bytes, for a long one and what is written while it is moved
_LONG_PAGES = 1000  # then it is moved, as far as nobody reads it
_TOO_LONG_PAGES = 8000  # then readers are waited for, a while
_READERS_MILLISECONDS = 1000


class Log:
    """Measured by whoever commits; the rest is used by one thread."""

    def __init__(self, open: Callable[[], apsw.Connection]) -> None:
        self._open = open
        self._connection: apsw.Connection | None = None  # most processes never write enough to need one
        self._pages = 0
        self._has_room = False
        self._too_long_pages = _TOO_LONG_PAGES

    def watch(self, connection: apsw.Connection) -> None:
        """Measure it at every commit, in place of SQLite's own checkpoints, which are part of a commit."""
        connection.set_wal_hook(self._measure)

    def _measure(self, connection: apsw.Connection, database: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    @property
    def needs_care(self) -> bool:
        return self.is_long or self.needs_room

    @property
    def needs_room(self) -> bool:
        return not self._has_room and self._pages >= _SOME_PAGES

    @property
    def is_long(self) -> bool:
        return self._pages >= _LONG_PAGES

    def make_room(self) -> None:
        """In a turn in which nobody writes; behind its end SQLite takes zeros for nothing. One try: it goes without,
        too, where the disk is nearly full."""
        self._has_room = True
        try:
            connection = self._connected()
            if connection.pragma("synchronous") == 0:
                return
            connection.execute("begin immediate")  # there may be others who take no turns
            try:
                _lengthen(connection.filename_wal)
            finally:
                connection.execute("rollback")
        except (apsw.Error, OSError) as error:
            _log.info("the log stays as short as it is: %s", error)
            self.close()

    def move(self) -> None:
        """As far as it goes, beside those who write."""
        self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def start_over(self) -> None:
        """Move the rest of it, in a turn in which nobody writes. The next commit measures it anew."""
        pages, self._pages = self._pages, 0
        if pages < self._too_long_pages:
            self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
            return
        # Readers that take turns would let the log grow for ever. One that does not end is asked ever less often.
        self._too_long_pages = 2 * pages
        if self._checkpoint(apsw.SQLITE_CHECKPOINT_RESTART):
            self._too_long_pages = _TOO_LONG_PAGES

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                self._connection.close(True)
            self._connection = None

    def _checkpoint(self, mode: int) -> bool:
        """False if somebody reads the older part, or it cannot be moved."""
        try:
            self._connected().wal_checkpoint(mode=mode)
            return True
        except apsw.BusyError:
            return False
        except apsw.Error as error:
            _log.warning("the log could not be moved into the store: %s", error)
            self.close()  # another time with another one
            return False

    def _connected(self) -> apsw.Connection:
        if self._connection is None:
            self._connection = self._open()
            self._connection.set_busy_timeout(_READERS_MILLISECONDS)
        return self._connection


def _lengthen(path: str) -> None:
    """With zeros that are on the disk: where nothing was ever written, the first write changes more than its page. Few
    at a time, or the system would keep them as large pieces and look through such a piece at every sync."""
    zeros = bytes(_PIECE)
    with open(path, "r+b", buffering=0) as file:
        length = file.seek(0, os.SEEK_END)
        try:
            file.writelines(zeros for _ in range(length, _ROOM, _PIECE))
            os.fsync(file)
        except OSError:
            file.truncate(length)
            raise
