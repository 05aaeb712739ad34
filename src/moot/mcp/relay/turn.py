"""Whose turn it is to take over: several relays lose the same server at once, and starting one costs a second of work.

A courtesy among them: that only one serves is decided where the socket is bound.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def taken(socket: Path) -> Generator[bool]:
    """Whether it is ours while the block runs. It falls to the next one when its holder dies."""
    try:
        lock = os.open(f"{socket}.turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield True  # nobody can be asked, and whoever serves will say what is wrong with the folder
        return
    try:
        yield _is_locked(lock)
    finally:
        os.close(lock)


def _is_locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
