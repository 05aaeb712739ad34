"""The exit of a child, noticed without reaping it: while unreaped, nobody else gets its pid or group."""

import asyncio
import io
import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress


class ExitWatch:
    """Calls `on_exit` once, on the loop, unless closed before."""

    def __init__(self, pid: int, on_exit: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_exit = on_exit
        self._is_closed = False
        self._source: io.FileIO | select.kqueue | None = None
        try:
            self._source = _exit_source(pid)
        except ProcessLookupError:
            self._loop.call_soon(self._fire)
        except OSError:  # sandboxes and old kernels refuse pidfd_open
            if sys.platform != "linux":
                raise
            threading.Thread(target=self._wait, args=(pid,), daemon=True).start()
        else:
            self._loop.add_reader(self._source.fileno(), self._fire)

    def close(self) -> None:
        self._is_closed = True
        if self._source is not None:
            self._loop.remove_reader(self._source.fileno())
            self._source.close()
            self._source = None

    def _fire(self) -> None:
        if not self._is_closed:
            self.close()
            self._on_exit()

    def _wait(self, pid: int) -> None:
        assert sys.platform == "linux"
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._fire)


def _exit_source(pid: int) -> "io.FileIO | select.kqueue":
    """Something that becomes readable when the process exits."""
    if sys.platform == "linux":
        return io.FileIO(os.pidfd_open(pid))
    queue = select.kqueue()
    exit_of_child = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
    try:
        queue.control([exit_of_child], 0)
    except OSError:
        queue.close()
        raise
    return queue
