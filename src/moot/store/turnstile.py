"""The queue before the writer lock, between processes, so that a busy process cannot starve a quiet one.

SQLite's own lock has no queue: whoever asks at the right moment wins. Two `flock`s make one: who wants to write
takes `gate`, then `turn`, then lets go of `gate`. The one who waits for `turn` is alone there, so the process that
just finished cannot overtake it: it stands at `gate` again, behind all who stood there before. Both locks die with
their process. Mutual exclusion itself stays SQLite's.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType


class Turnstile:
    """`with turnstile:` around each batch; blocks until it is our turn. Used by one thread."""

    def __init__(self, database: Path) -> None:
        self._gate = _open(database.with_name(database.name + "-gate"))
        self._turn = _open(database.with_name(database.name + "-turn"))

    def __enter__(self) -> None:
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._turn, fcntl.LOCK_EX)
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fcntl.flock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._gate)
        os.close(self._turn)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
