"""The one writer thread of a process: group commit, and what happens when a commit fails.

Functions that wait together commit together, each in its own savepoint. Three rules keep the answers true:
nobody is answered before the commit; when the database loses the transaction (no space, I/O error, no memory), every
function of the batch runs again alone; and when COMMIT itself failed, a barrier row is committed first, because frames
of a failed commit may still lie behind the end of the log and would come back to life after a crash.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import apsw

from moot.core.caller import Caller
from moot.core.clock import Clock
from moot.core.errors import MootError
from moot.core.tx import Tx
from moot.store import queries, timing
from moot.store.errors import StoreBusy, StoreClosed, StoreDamaged, StoreFull, StoreUnavailable
from moot.store.sqlite_tx import SqliteTx
from moot.store.store import Limits
from moot.store.turnstile import Turnstile

sql = queries.beside(__file__)
_log = logging.getLogger("moot.store")


@dataclass(slots=True, eq=False)
class Work:
    """A function that waits to be committed, and the future of its caller."""

    change: Callable[[Tx], Any]
    caller: Caller
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Any]"
    is_taken: bool = False  # by the writer; from then on it may be committed
    result: Any = None
    error: BaseException | None = None
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def settle(self) -> None:
        """Answer the caller. On the caller's event loop."""
        if self.timer is not None:
            self.timer.cancel()
        if self.answer.done():
            return
        if self.error is not None:
            self.answer.set_exception(self.error)
        else:
            self.answer.set_result(self.result)


class TransactionLost(Exception):
    """The database rolled back more than one function."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the writer works with."""

    open: Callable[[], apsw.Connection]
    turnstile: Turnstile
    clock: Clock
    limits: Limits
    version: int
    after_commit: Callable[[], None]  # news was committed; called on the writer thread


class Writer:
    """Owns the writing connection and its thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._queue: deque[Work] = deque()
        self._changed = threading.Condition()
        self._is_closing = False
        self._connection = desk.open()
        self._thread = threading.Thread(target=self._work, name="moot-writer", daemon=True)
        self._thread.start()

    async def submit(self, change: Callable[[Tx], Any], caller: Caller) -> Any:
        """Queue the function and wait for its commit."""
        loop = asyncio.get_running_loop()
        work = Work(change, caller, loop, loop.create_future())
        work.timer = loop.call_later(self._desk.limits.queued_seconds, self._give_up, work)
        with self._changed:
            if self._is_closing:
                work.timer.cancel()
                raise StoreClosed("The store is closed.", "Open it again.")
            self._queue.append(work)
            self._changed.notify()
        return await work.answer

    def close(self) -> None:
        """Commit what waits, then end. Blocks until the thread has ended."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join()

    def _give_up(self, work: Work) -> None:
        with self._changed:
            if work.is_taken:
                return
            self._queue.remove(work)
        work.error = StoreBusy(
            f"The store was busy for {self._desk.limits.queued_seconds:g} s and nothing was written.",
            "Another process holds it: see moot doctor; then try again.",
        )
        work.settle()

    def _work(self) -> None:
        while self._wait_for_work():
            with self._desk.turnstile:
                batch, has_news = self._commit_batch()
            if has_news:
                self._desk.after_commit()
            _settle(batch)
        self._connection.close()

    def _wait_for_work(self) -> bool:
        with self._changed:
            while not self._queue and not self._is_closing:
                self._changed.wait()
            return bool(self._queue)

    def _take(self) -> Work | None:
        with self._changed:
            if not self._queue:
                return None
            work = self._queue.popleft()
            work.is_taken = True
            return work

    def _commit_batch(self) -> tuple[list[Work], bool]:
        """Everything that waits, up to the limits, in one transaction."""
        batch: list[Work] = []
        is_committing = False
        try:
            self._begin()
            has_news = self._fill(batch)
            is_committing = True
            self._connection.execute("commit")
        except MootError as error:  # the schema moved: nobody can be served
            self._fail_waiting(batch, error)
            return batch, False
        except (apsw.Error, TransactionLost) as error:
            if not batch:
                self._fail_waiting(batch, _named(error))
                return batch, False
            return batch, self._recover(batch, error, is_committing)
        return batch, has_news

    def _begin(self) -> None:
        self._connection.execute("begin immediate")
        found = self._connection.pragma("user_version")
        if found != self._desk.version:
            self._roll_back()
            raise StoreUnavailable(
                f"The store was migrated to version {found} while this process was running.", "Start it again."
            )

    def _fill(self, batch: list[Work]) -> bool:
        until = monotonic() + self._desk.limits.batch_seconds
        has_news = False
        while len(batch) < self._desk.limits.batch_functions and (work := self._take()) is not None:
            batch.append(work)
            has_news |= self._run(work)
            if monotonic() >= until:
                break
        return has_news

    def _run(self, work: Work) -> bool:
        """One function in its savepoint; its own failure stays its own. True if it has news for readers."""
        tx = SqliteTx(self._connection, self._desk.clock, work.caller)
        work.result, work.error = None, None
        self._connection.execute("savepoint one")
        try:
            work.result = timing.watched(lambda: work.change(tx), work.change, self._desk.limits)
        except Exception as error:
            if not self._connection.in_transaction:
                raise TransactionLost from error
            self._connection.execute("rollback to one")
            self._connection.execute("release one")
            work.error = _named(error)
            return False
        self._connection.execute("release one")
        return tx.has_news

    def _recover(self, batch: list[Work], cause: Exception, was_committing: bool) -> bool:
        """Nothing of the batch is answered yet. Make sure it is gone, then run each function alone."""
        _log.warning("a batch of %d was rolled back: %s", len(batch), cause)
        has_news = False
        if not self._clear(was_committing):
            _fail(batch, _unknown(cause))
            return False
        for place, work in enumerate(batch):
            outcome = self._run_alone(work)
            if outcome is None:
                _fail(batch[place:], _unknown(cause))
                break
            has_news |= outcome
        return has_news

    def _run_alone(self, work: Work) -> bool | None:
        """True if committed with news, False if not, None if nobody knows."""
        was_committing = False
        try:
            self._begin()
            has_news = self._run(work)
            was_committing = True
            self._connection.execute("commit")
            return has_news
        except (apsw.Error, TransactionLost, MootError) as error:
            work.error = _named(error)
            return False if self._clear(was_committing) else None

    def _clear(self, was_committing: bool) -> bool:
        """Leave no transaction open and nothing half-committed; False if that cannot be made sure."""
        try:
            self._roll_back()
            if was_committing:
                self._connection.execute("begin immediate")
                self._connection.execute(sql.raise_barrier.sqlite)
                self._connection.execute("commit")
        except apsw.Error:
            self._reopen()
            return False
        return True

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("rollback")

    def _reopen(self) -> None:
        try:
            self._connection.close(True)
            self._connection = self._desk.open()
        except (apsw.Error, MootError) as error:
            # The old connection stays in place; the next batch fails on it and comes here again.
            _log.error("the store could not be opened again: %s", error)

    def _fail_waiting(self, batch: list[Work], error: BaseException) -> None:
        """Nothing was begun: what waits is answered, or the thread would spin on a dead database."""
        self._roll_back()
        while (work := self._take()) is not None:
            work.error = error
            batch.append(work)


def _settle(batch: list[Work]) -> None:
    loops = {work.loop for work in batch}
    for loop in loops:
        mine = [work for work in batch if work.loop is loop]
        try:
            loop.call_soon_threadsafe(_settle_here, mine)
        except RuntimeError:  # that loop has ended, and its callers with it
            continue


def _settle_here(batch: list[Work]) -> None:
    for work in batch:
        work.settle()


def _fail(batch: list[Work], error: BaseException) -> None:
    for work in batch:
        work.error = error


def _unknown(cause: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"The database failed ({_reason(cause)}) and whether this was written is not known.",
        "Check the disk (moot doctor), look whether it is there, and repeat it with the same key.",
    )


def _named(error: BaseException) -> BaseException:
    """The database's own errors in our words; all others as they are."""
    if isinstance(error, TransactionLost):
        return _named(error.__cause__) if error.__cause__ is not None else error
    if isinstance(error, apsw.FullError):
        return StoreFull("The disk is full; nothing was written.", "Free some space and try again.")
    if isinstance(error, apsw.BusyError):
        return StoreBusy("Another program holds the database.", "See moot doctor; then try again.")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StoreDamaged(f"The store is damaged: {error}.", "Keep a copy and run moot doctor.")
    if isinstance(error, apsw.IOError | apsw.NoMemError | apsw.ReadOnlyError | apsw.CantOpenError):
        return StoreUnavailable(f"The database failed ({_reason(error)}); nothing was written.", "Run moot doctor.")
    return error


def _reason(error: BaseException) -> str:
    cause = error.__cause__ if isinstance(error, TransactionLost) and error.__cause__ else error
    return str(cause) or type(cause).__name__
