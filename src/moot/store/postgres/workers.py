"""Threads that do blocking work for the event loop.

Not a `ThreadPoolExecutor`: its futures, wrapped for asyncio, cost twice as much as this per call. The thread that came
back last gets the next work, because the processor still knows it; another is started only when all are busy.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from moot.store.errors import StoreBusy, StoreClosed

T = TypeVar("T")


class _Work:
    """Something to do, and the future of who asked for it."""

    __slots__ = ("_loop", "answer", "do", "error", "result")

    def __init__(self, do: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.do = do
        self.answer: asyncio.Future[Any] = loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None
        self._loop = loop

    def run(self) -> None:
        try:
            self.result = self.do()
        except BaseException as error:  # noqa: BLE001 - handed over to the caller, whatever it is
            self.error = error

    def hand_back(self) -> None:
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


class _Worker:
    """A thread, and what it is to do next."""

    __slots__ = ("bell", "thread", "work")

    def __init__(self, do: Callable[["_Worker"], None], name: str, first: _Work) -> None:
        self.work: _Work | None = first  # None at a ring: to end
        self.bell = threading.Lock()  # released to ring
        self.bell.acquire()
        self.thread = threading.Thread(target=do, args=(self,), name=name, daemon=True)


class Workers:
    """At most so many threads."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._lock = threading.Lock()
        self._all: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._queue: deque[_Work] = deque()  # empty while somebody is idle
        self._is_closed = False

    async def do(self, function: Callable[[], T], patience: float) -> T:
        """Its result; STORE_BUSY when no thread was free for so many seconds."""
        loop = asyncio.get_running_loop()
        work = _Work(function, loop)
        timer = None if self._is_taken(work) else loop.call_later(patience, self._give_up, work, patience)
        try:
            result: T = await work.answer
        finally:
            if timer is not None:
                timer.cancel()
        return result

    def close(self) -> None:
        """Do what waits, then end. Blocks."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.bell.release()
        for worker in self._all:
            worker.thread.join()

    def _is_taken(self, work: _Work) -> bool:
        """By a thread, at once; otherwise it waits in the queue."""
        with self._lock:
            if self._is_closed:
                raise StoreClosed("The store is closed.", "Open it again.")
            if self._idle:
                worker = self._idle.pop()
                worker.work = work
                worker.bell.release()
            elif len(self._all) < self._count:
                self._all.append(worker := _Worker(self._work, self._name, work))
                worker.thread.start()
            else:
                self._queue.append(work)
                return False
            return True

    def _work(self, worker: _Worker) -> None:
        while worker.work is not None:
            work, worker.work = worker.work, None
            work.run()
            self._make_ready(worker)  # before the answer, upon which the caller may have more to do
            work.hand_back()
            worker.bell.acquire()

    def _make_ready(self, worker: _Worker) -> None:
        with self._lock:
            if self._queue:
                worker.work = self._queue.popleft()
            elif not self._is_closed:
                self._idle.append(worker)
                return
            worker.bell.release()

    def _give_up(self, work: _Work, patience: float) -> None:
        """On the loop; does nothing when a thread has taken it."""
        with self._lock:
            if work not in self._queue:
                return
            self._queue.remove(work)
        if not work.answer.done():
            work.answer.set_exception(
                StoreBusy(
                    f"The store was busy for {patience:g} s and nothing was written.",
                    "See moot doctor; then try again.",
                )
            )
