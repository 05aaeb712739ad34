"""A moment in which no signal asks the program to end; one that comes meanwhile is heard afterwards."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

_ENDING = frozenset((signal.SIGINT, signal.SIGTERM))


@contextmanager
def undisturbed() -> Generator[None]:
    """Only the main thread hears signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
