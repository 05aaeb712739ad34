"""Where the bench writes: a folder of its own on a real disk, and how fast that disk makes things durable."""

import os
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

_PAGE = os.urandom(4096)
_ROOM = 256  # pages


@contextmanager
def scratch() -> Generator[Path]:
    """A folder that is gone afterwards. Not in /tmp, which is memory on many machines, unless TMPDIR says so."""
    chosen = os.environ.get("TMPDIR") or ("/var/tmp" if os.path.isdir("/var/tmp") else None)
    with tempfile.TemporaryDirectory(prefix="moot-bench-", dir=chosen, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def disk(folder: Path, seconds: float) -> Callable[[], float]:
    """A side of a comparison: pages written one by one to a file that has its room already, each made durable."""
    file = folder / "disk"
    file.write_bytes(_PAGE * _ROOM)

    def syncs_per_second() -> float:
        descriptor = os.open(file, os.O_RDWR)
        try:
            return _syncs(descriptor, seconds)
        finally:
            os.close(descriptor)

    return syncs_per_second


def _syncs(descriptor: int, seconds: float) -> float:
    os.fsync(descriptor)
    make_durable = getattr(os, "fdatasync", os.fsync)
    count, started = 0, time.monotonic()
    while (now := time.monotonic()) - started < seconds:
        os.pwrite(descriptor, _PAGE, count % _ROOM * len(_PAGE))
        make_durable(descriptor)
        count += 1
    return count / (now - started)
