"""Threads that do blocking work for the event loop.

Not a `ThreadPoolExecutor`: its futures, wrapped for asyncio, cost twice as much as this per call.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from moot.store.errors import StoreBusy, StoreClosed

T = TypeVar("T")


class _Work:
    """Something to do, and the future of who asked for it."""

    __slots__ = ("_loop", "answer", "claim", "do", "error", "result")

    def __init__(self, do: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.do = do
        self.answer: asyncio.Future[Any] = loop.create_future()
        self.claim = threading.Lock()  # taken once: by the thread that does it, or by who gives up waiting
        self.result: Any = None
        self.error: BaseException | None = None
        self._loop = loop

    def run(self) -> None:
        try:
            self.result = self.do()
        except BaseException as error:  # noqa: BLE001 - handed over to the caller, whatever it is
            self.error = error
        try:
            self._loop.call_soon_threadsafe(self._settle)
        except RuntimeError:  # that loop has ended, and the caller with it
            return

    def _settle(self) -> None:
        if self.answer.done():
            return
        if self.error is not None:
            self.answer.set_exception(self.error)
        else:
            self.answer.set_result(self.result)


class Workers:
    """A fixed number of threads, started with the first work."""

    def __init__(self, count: int, name: str) -> None:
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name=name, daemon=True) for _ in range(count)]
        self._lock = threading.Lock()
        self._is_started = False
        self._is_closed = False

    async def do(self, function: Callable[[], T], patience: float) -> T:
        """Its result; STORE_BUSY when no thread was free for so many seconds."""
        loop = asyncio.get_running_loop()
        work = _Work(function, loop)
        with self._lock:
            if self._is_closed:
                raise StoreClosed("The store is closed.", "Open it again.")
            self._start()
            self._queue.put(work)
        timer = loop.call_later(patience, _give_up, work, patience)
        try:
            result: T = await work.answer
        finally:
            timer.cancel()
        return result

    def close(self) -> None:
        """Do what waits, then end. Blocks."""
        with self._lock:
            is_running = self._is_started and not self._is_closed
            self._is_closed = True
        if is_running:
            for _ in self._threads:
                self._queue.put(None)
            for thread in self._threads:
                thread.join()

    def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            for thread in self._threads:
                thread.start()

    def _work(self) -> None:
        while (work := self._queue.get()) is not None:
            if work.claim.acquire(blocking=False):
                work.run()


def _give_up(work: _Work, patience: float) -> None:
    if work.claim.acquire(blocking=False) and not work.answer.done():
        work.answer.set_exception(
            StoreBusy(
                f"The store was busy for {patience:g} s and nothing was written.",
                "See moot doctor; then try again.",
            )
        )
