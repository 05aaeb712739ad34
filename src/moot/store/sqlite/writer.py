"""The one writer of a process: its queue, its thread, its turns between other processes, and its answers.

What the callers ask for in one turn of their loop is committed on its own thread, which spares two switches between
threads: most of what a small write costs, and some of a large batch. Only when nothing has to be waited for: the turn
and the lock are free, and the disk was quick the last time. A disk that hangs all of a sudden holds the loop for that
one commit, as it does for a read. Whoever writes alone need not wait for the turn's end: one commit follows the other,
for a moment. Whoever comes in the same turn waits for its end, and shares a commit with all who do.

Nobody waits for ever and nobody is answered early. A function still queued at its deadline was not done and is told so;
one that was taken is answered after its commit, or, after as long again, told that nobody knows. The thread survives
whatever a function or the database does, and ends when the store is closed.
"""

import asyncio
import copy
import logging
import threading
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

import apsw

from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.tx import Tx
from moot.store.errors import StoreBusy, StoreClosed, StoreUnavailable
from moot.store.sqlite import work as works
from moot.store.sqlite.faults import in_words, outcome_unknown
from moot.store.sqlite.group_commit import GroupCommit, Means
from moot.store.sqlite.log import Log
from moot.store.sqlite.turnstile import Turnstile
from moot.store.sqlite.work import Work

_log = logging.getLogger("moot.store")
_ALONE_SECONDS = 0.002  # that one caller may hold the loop with commit after commit


class Writer:
    """Owns the thread, and through it the writing connection and the turnstile."""

    def __init__(self, means: Means, turnstile: Turnstile, tell: Callable[[], None]) -> None:
        self._limits = means.limits
        self._turnstile = turnstile
        self._tell = tell  # called on the thread that has committed news
        self._queue: deque[Work] = deque()
        self._taken: list[Work] = []  # out of it by the thread, and not answered yet
        self._watching: asyncio.AbstractEventLoop | None = None  # the loop that looks for what is overdue
        self._overdue_at = 0.0  # what comes in this turn of the loop
        self._first: asyncio.Task[Any] | None = None  # to write in this turn
        self._alone_until = 0.0  # it may do so again and again
        self._lock = threading.Lock()  # of the queue's end; taken for every function, and so not through `_changed`
        self._changed = threading.Condition(self._lock)
        self._is_writing = threading.Lock()  # held by the one of the two threads that uses commits and turnstile
        self._gathering: asyncio.AbstractEventLoop | None = None  # the loop that looks at the queue in a moment
        self._is_lonely = False  # who came last found nobody else
        self._is_closing = False
        self._log = Log(means.open)
        self._commits = GroupCommit(means, self._log)
        self._thread = threading.Thread(target=self._work, name="moot-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Callable[[Tx], Any], caller: Caller) -> asyncio.Future[Any]:
        """Queue the function; its answer comes after its commit."""
        loop = asyncio.get_running_loop()
        if is_first := self._gathering is not loop:  # in this turn of the loop
            self._gathering = loop
            self._overdue_at = loop.time() + self._limits.queued_seconds
            self._first = asyncio.current_task(loop)
            self._alone_until = monotonic() + _ALONE_SECONDS  # the loop's own clock may stand still in it
            loop.call_soon(self._gathered, loop)
        work = Work(change, caller, loop, loop.create_future(), self._overdue_at)
        with self._lock:
            if self._is_closing:
                raise StoreClosed("The store is closed; nothing was written.", "Open it again.")
            self._queue.append(work)
        if self._is_lonely and (is_first or self._is_first_again(loop)):
            self._write_at_once(loop)
        return work.answer

    def _is_first_again(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Only for a moment: whoever writes again and again lets others have their turns of the loop."""
        return asyncio.current_task(loop) is self._first and monotonic() < self._alone_until

    def close(self) -> None:
        """Commit what waits, then end. Blocks, but no longer than the deadline of what waits."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(self._limits.queued_seconds)
        if self._thread.is_alive():
            _log.warning("the writer still waits for another process; it is left behind")

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """On the callers' loop, at the deadline of what was oldest when this was set. What waits is in the queue or in
        the writer's hands, or, for a moment, on its way from one to the other: then there is another look."""
        now, seconds = loop.time(), self._limits.queued_seconds
        waiting = [*self._queue, *self._taken]
        for work in waiting:
            if work.overdue_at <= now:
                self._overdue(work)
        if waiting or self._is_writing.locked():
            loop.call_at(
                min((work.overdue_at for work in waiting if work.overdue_at > now), default=now + seconds),
                self._look,
                loop,
            )
        else:
            self._watching = None

    def _overdue(self, work: Work) -> None:
        seconds = self._limits.queued_seconds
        try:
            self._queue.remove(work)
        except ValueError:  # the writer has it, and may commit it
            work.loop.call_later(seconds, work.refuse, _stuck(2 * seconds))
            return
        work.refuse(
            StoreBusy(
                f"The store was busy for {seconds:g} s; nothing was written.",
                "Another process holds it: see moot doctor; then try again.",
            )
        )

    def _gathered(self, loop: asyncio.AbstractEventLoop) -> None:
        """On the callers' loop, once for all that was submitted in one turn of it."""
        self._gathering = self._first = None
        self._is_lonely = len(self._queue) < 2
        if self._queue:
            self._write_at_once(loop)
        if not self._queue:  # else it could not be, or there is more than goes into one commit
            if self._log.needs_care:
                self._rouse()
            return
        if self._watching is not loop:  # who waited on another loop is gone with it
            self._watching = loop
            loop.call_at(self._overdue_at, self._look, loop)
        self._rouse()

    def _rouse(self) -> None:
        with self._changed:
            self._changed.notify()

    def _write_at_once(self, loop: asyncio.AbstractEventLoop) -> None:
        """On the callers' loop, if nothing has to be waited for."""
        if not self._is_writing.acquire(blocking=False):
            return
        try:
            if not self._queue or not self._commits.is_quick or not self._turnstile.is_entered_at_once():
                return
            batch: list[Work] = []
            if self._commit_at_once(batch):
                _quietly(self._tell)
            works.settle(batch, on=loop)
        finally:
            self._is_writing.release()

    def _commit_at_once(self, batch: list[Work]) -> bool:
        """False, and an empty batch, if another process has the lock."""
        try:
            return self._commits.commit_at_once(batch, self._take)
        except apsw.BusyError:
            return False  # nothing was begun: the other thread waits for it
        except Exception as error:  # noqa: BLE001 as on the other thread
            self._give_up(batch, error)
            return False
        except BaseException as error:
            self._give_up(batch, error)
            raise  # this thread is the program's, and it is asked to end
        finally:
            self._turnstile.leave()

    def _work(self) -> None:
        while self._wait_for_work():
            self._write()
            if self._log.needs_room:
                _quietly(self._make_room)
            if self._log.is_long:
                _quietly(self._shorten_log)
        with self._is_writing:
            self._commits.drop()
            self._log.close()
            self._turnstile.close()

    def _write(self) -> None:
        batch = self._taken = []
        with self._is_writing:
            if self._queue and self._commit(batch):  # unless the other thread was quicker
                _quietly(self._tell)
        works.settle(batch)
        self._taken = []

    def _wait_for_work(self) -> bool:
        with self._changed:
            while not (self._queue or self._log.needs_care or self._is_closing):
                self._changed.wait()
            return bool(self._queue) or not self._is_closing

    def _commit(self, batch: list[Work]) -> bool:
        try:
            with self._turnstile:
                return self._commits.commit(batch, self._take)
        except BaseException as error:  # noqa: BLE001 the thread's boundary: its callers would wait for ever
            self._give_up(batch, error)
            return False

    def _make_room(self) -> None:
        with self._is_writing, self._turnstile:
            self._log.make_room()

    def _shorten_log(self) -> None:
        self._log.move()
        with self._is_writing, self._turnstile:
            self._log.start_over()

    def _take(self) -> Work | None:
        """What is out of the queue may be committed. Without the lock, which costs more: this is one step for all."""
        if not self._queue:
            return None
        try:
            return self._queue.popleft()
        except IndexError:
            return None

    def _give_up(self, batch: list[Work], error: BaseException) -> None:
        """Everybody is answered, or the thread would spin on a dead database; the next batch starts afresh."""
        if isinstance(error, apsw.BusyError) and not self._is_closing:
            return  # nothing was begun, and every caller has a deadline of its own
        if not isinstance(error, apsw.Error | MootError):
            _log.error("the writer failed", exc_info=error)
        self._commits.drop()
        for work in batch:
            work.error = outcome_unknown(error)
        if not batch:
            while (work := self._take()) is not None:
                work.error = copy.copy(in_words(error))  # raised in several places: each has its own traceback
                batch.append(work)


def _quietly(step: Callable[[], None]) -> None:
    """What follows a commit may fail without harm: a wake-up is a hint, and a long log is moved another time."""
    try:
        step()
    except Exception:  # noqa: BLE001 the thread's boundary
        _log.exception("a step after a commit failed")


def _stuck(seconds: float) -> StoreUnavailable:
    return StoreUnavailable(
        f"The database has not answered for {seconds:g} s and whether this was written is not known.",
        "Check the disk (moot doctor), look whether it is there, and repeat it with the same key.",
    )
