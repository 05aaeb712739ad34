"""The log that SQLite commits to first: moved into the file by and by, and then started over.

Moving it takes as long as a dozen commits. So nearly all of it is moved while others go on committing, by a connection
of its own; only what they have added meanwhile, in a turn in which nobody writes, because while others write the log
has no end to start over from. No caller waits for more than that, or fails by it.
"""

import contextlib
import logging
from collections.abc import Callable

import apsw

_log = logging.getLogger("moot.store")
_LONG_PAGES = 1000  # then it is moved, as far as nobody reads it
_TOO_LONG_PAGES = 8000  # then readers are waited for, a while
_READERS_MILLISECONDS = 1000


class Log:
    """Measured by whoever commits; the rest is used by one thread."""

    def __init__(self, open: Callable[[], apsw.Connection]) -> None:
        self._open = open
        self._connection: apsw.Connection | None = None  # most processes never write enough to need one
        self._pages = 0
        self._too_long_pages = _TOO_LONG_PAGES

    def watch(self, connection: apsw.Connection) -> None:
        """Measure it at every commit, in place of SQLite's own checkpoints, which are part of a commit."""
        connection.set_wal_hook(self._measure)

    def _measure(self, connection: apsw.Connection, database: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    @property
    def is_long(self) -> bool:
        return self._pages >= _LONG_PAGES

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
            if self._connection is None:
                self._connection = self._open()
                self._connection.set_busy_timeout(_READERS_MILLISECONDS)
            self._connection.wal_checkpoint(mode=mode)
            return True
        except apsw.BusyError:
            return False
        except apsw.Error as error:
            _log.warning("the log could not be moved into the store: %s", error)
            self.close()  # another time with another one
            return False
