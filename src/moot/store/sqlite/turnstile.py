"""The queue before the writer lock, between processes, so that a busy process cannot starve a quiet one.

Neither SQLite's lock nor `flock` has a queue: whoever is awake at the right moment wins. So everybody draws a number
and locks the byte at that offset until its turn is over; the turn comes when the byte before can be locked too. A
process that dies leaves the queue with its locks. Only order is kept here: mutual exclusion stays SQLite's, so
whoever cannot queue goes ahead.
"""

import fcntl
import logging
import os
import struct
from pathlib import Path
from types import TracebackType

_log = logging.getLogger("moot.store")
_DISPENSER = 1 << 62  # the byte held while drawing a number, far behind all numbers


class Turnstile:
    """`with turnstile:` around each batch; blocks until it is our turn. Used by one thread at a time."""

    def __init__(self, database: Path) -> None:
        path = database.with_name(database.name + "-turn")
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._number = 1

    def __enter__(self) -> None:
        try:
            self._number = self._draw()
            _lock(self._file, fcntl.F_WRLCK, self._number - 1)
        except OSError as error:
            _log.warning("writing out of turn: %s", error)

    def is_entered_at_once(self) -> bool:
        """Enter, to `leave` later, if nobody is before us; waits for nothing, and draws no number.

        Turns come in order: when the last one drawn is over, all are. Whoever draws next waits for its byte, which is
        ours then. (If somebody draws and is through between our two steps, the next to draw does not wait for us here,
        but for once at SQLite's lock.)"""
        try:
            last = self._last()
            _lock(self._file, fcntl.F_WRLCK, last, waits=False)
        except OSError:
            return False  # it is taken; or who waits for the turn finds out why
        self._number = last + 1
        return True

    def leave(self) -> None:
        try:
            _lock(self._file, fcntl.F_UNLCK, self._number - 1, 2)
        except OSError:  # where locking failed too
            return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def close(self) -> None:
        os.close(self._file)

    def _draw(self) -> int:
        """The next number, its byte locked before anybody can draw the one after."""
        _lock(self._file, fcntl.F_WRLCK, _DISPENSER)
        try:
            number = self._last() + 1
            self._keep(number)
            _lock(self._file, fcntl.F_WRLCK, number)
            return number
        finally:
            _lock(self._file, fcntl.F_UNLCK, _DISPENSER)

    def _last(self) -> int:
        return int.from_bytes(os.pread(self._file, 7, 0), "little")

    def _keep(self, last: int) -> None:
        os.pwrite(self._file, last.to_bytes(8, "little"), 0)


# A lock of this open file where the system has such; elsewhere of the process, which may hold the file once.
_OF_FILE = (fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW) if hasattr(fcntl, "F_OFD_SETLKW") else None
_pack = struct.Struct("hhqqi4x").pack


def _lock(file: int, kind: int, start: int, length: int = 1, *, waits: bool = True) -> None:
    if _OF_FILE is not None:
        fcntl.fcntl(file, _OF_FILE[waits], _pack(kind, os.SEEK_SET, start, length, 0))
    else:
        operation = fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX
        fcntl.lockf(file, operation if waits else operation | fcntl.LOCK_NB, length, start)
