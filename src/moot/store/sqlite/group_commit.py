"""Group commit: functions that wait together commit together, and one that fails takes nobody with it.

Most functions succeed, or are refused before they write: they need no savepoint, which costs as much as a statement
and copies every page. When one fails after it has written, the batch is rolled back and run again, each function in a
savepoint of its own.

Three rules keep the answers true. Nobody is answered before the commit. When the database loses the transaction (no
space, I/O error, no memory), every function of the batch runs again alone. And when COMMIT itself failed, a barrier row
is committed first: the frames of the failed commit may lie whole behind the end of the log and would come back to life
after a crash. A full disk stops a commit before its last frame is whole; but the log is written over an older one, of
which the rest may be just what is missing. So a barrier is tried there, too, and may fail for the same want of room.
"""

import contextlib
import logging
import math
import threading
from collections import deque
from collections.abc import Callable
from time import monotonic, thread_time

import apsw

from moot.core.clock import Clock
from moot.core.errors import MootError
from moot.core.records import record
from moot.store import queries, timing
from moot.store.errors import TransactionTooSlow
from moot.store.sqlite import files
from moot.store.sqlite.counters import Counters
from moot.store.sqlite.faults import TransactionLost, in_words, outcome_unknown
from moot.store.sqlite.log import Log
from moot.store.sqlite.tx import SqliteTx
from moot.store.sqlite.work import Work
from moot.store.store import Limits

sql = queries.beside(__file__)
_log = logging.getLogger("moot.store")


@record
class Means:
    """What commits are made with."""

    open: Callable[[], apsw.Connection]
    find: Callable[[], None]  # raises when the file that was opened is no longer there
    check: Callable[[apsw.Connection], None]  # raises when this is no longer the store that was opened
    clock: Clock
    limits: Limits


class GroupCommit:
    """Owns the writing connection. Used by one thread at a time."""

    def __init__(self, means: Means, log: Log) -> None:
        self._means = means
        self._log = log
        self._is_lost = False
        self._disk_seconds = math.inf
        self._cpu_seconds = 0.0  # of the thread at work here, shortly before the function that is running
        self._cpu_thread = 0
        self._cpu_until = 0.0  # it counts as shortly before
        self._now = 0.0  # when the last one ended
        self._busy_milliseconds = 0
        self._seen = -1  # the database's version after our last commit
        self._connection = self._open()
        self._cursor = self._connection.cursor()
        self._counters = Counters()

    def commit(self, batch: list[Work], take: Callable[[], Work | None]) -> bool:
        """All there is to take, up to the limits, in one transaction; True if readers have news.

        Raises when it could not begin (the batch is empty then), or, in the middle, what nobody foresaw."""
        self._begin()
        return self._commit(batch, take)

    def commit_at_once(self, batch: list[Work], take: Callable[[], Work | None]) -> bool:
        """The same; raises instead of waiting for another process."""
        self._begin(busy_milliseconds=0)
        return self._commit(batch, take)

    @property
    def is_quick(self) -> bool:
        """Whether the next commit can be expected to be over in no time."""
        return self._disk_seconds <= self._means.limits.at_once_seconds and not self._is_lost

    def _commit(self, batch: list[Work], take: Callable[[], Work | None]) -> bool:
        is_committing = False
        try:
            try:
                has_news = self._fill(batch, take)
            except _HalfDone:
                has_news = self._refill(batch)
            self._counters.keep(self._cursor)
            is_committing = True
            began = monotonic()
            self._cursor.execute("commit")
            self._disk_seconds = monotonic() - began
        except (apsw.Error, TransactionLost) as error:
            self._disk_seconds = math.inf
            return self._recover(batch, error, was_committing=is_committing)
        self._seen = self._connection.data_version()
        return has_news

    def drop(self) -> None:
        """Forget the connection, and with it an open transaction; the next commit opens another."""
        self._is_lost = True
        self._counters.forget()
        with contextlib.suppress(apsw.Error):
            self._connection.close(True)

    def _open(self) -> apsw.Connection:
        connection = self._means.open()
        self._seen = -1
        self._busy_milliseconds = files.BUSY_MILLISECONDS
        self._log.watch(connection)
        return connection

    def _wait_for_others(self, milliseconds: int) -> None:
        """At most so long from now on, where another process has the lock."""
        self._connection.set_busy_timeout(milliseconds)
        self._busy_milliseconds = milliseconds

    def _begin(self, busy_milliseconds: int = files.BUSY_MILLISECONDS) -> None:
        try:
            if self._is_lost:
                self._connection = self._open()
                self._cursor = self._connection.cursor()
                self._is_lost = False
            if busy_milliseconds != self._busy_milliseconds:
                self._wait_for_others(busy_milliseconds)
            self._cursor.execute("begin immediate")
        except (apsw.Error, MootError):
            self._means.find()  # of a removed file SQLite only tells that it cannot open something
            raise
        try:
            self._means.find()
            if self._connection.data_version() != self._seen:  # others have written, perhaps a migration
                self._counters.forget()
                self._means.check(self._connection)
        except BaseException:
            self._roll_back()
            raise

    def _fill(self, batch: list[Work], take: Callable[[], Work | None]) -> bool:
        limits = self._means.limits
        self._look_at_clocks()
        until = self._now + limits.batch_seconds
        has_news = False
        while len(batch) < limits.batch_functions and (work := take()) is not None:
            batch.append(work)
            has_news |= self._run(work)
            if self._now >= until:
                break
        return has_news

    def _look_at_clocks(self) -> None:
        """That of the CPU costs as much as a statement: it is read again after as long as a batch takes."""
        self._now = monotonic()
        thread = threading.get_ident()
        if self._now > self._cpu_until or thread != self._cpu_thread:
            self._cpu_seconds, self._cpu_thread = thread_time(), thread
            self._cpu_until = self._now + self._means.limits.batch_seconds

    def _run(self, work: Work) -> bool:
        """One function; what it refuses before it writes is its own affair. True if it has news for readers."""
        connection = self._connection
        written = connection.total_changes() + self._counters.waiting
        tx = SqliteTx(self._cursor, self._means.clock, self._counters, work.caller)
        work.result, work.error = None, None
        try:
            work.result = tx.perform(work.change)
            began, self._now = self._now, monotonic()  # its end is the beginning of the next
            if self._now - began > self._means.limits.slow_seconds:
                timing.judge(work.change, self._cpu_seconds, self._means.limits)
        except BaseException as error:  # a SystemExit is its own, too
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise  # a signal that came in the middle is for the program
            if not connection.in_transaction:
                raise TransactionLost from error
            if connection.total_changes() + self._counters.waiting != written or isinstance(error, TransactionTooSlow):
                raise _HalfDone from error
            self._now = monotonic()
            work.error = in_words(error)
            return False
        return tx.has_news

    def _refill(self, batch: list[Work]) -> bool:
        """The same functions once more, each so that it can be undone alone."""
        self._roll_back()
        self._begin()
        has_news = False
        for work in batch:
            has_news |= self._run_apart(work)
        return has_news

    def _run_apart(self, work: Work) -> bool:
        self._counters.write(self._cursor)  # what is undone with the savepoint is read again
        self._connection.execute("savepoint one")
        self._look_at_clocks()
        try:
            has_news = self._run(work)
        except _HalfDone as half:
            self._connection.execute("rollback to one")
            self._counters.forget()
            work.result, work.error, has_news = None, in_words(_cause(half)), False
        self._connection.execute("release one")
        return has_news

    def _recover(self, batch: list[Work], cause: Exception, *, was_committing: bool) -> bool:
        """Nothing of the batch is answered yet. Make sure that it is gone, then run each function alone."""
        _log.warning("a batch of %d was rolled back: %s", len(batch), in_words(cause))
        waiting = deque(batch)
        has_news = False
        try:
            self._wait_for_others(files.BUSY_MILLISECONDS)
            self._clear(cause, was_committing=was_committing)
            while waiting:
                has_news |= self._run_alone(waiting[0])
                waiting.popleft()
        except (apsw.Error, MootError) as error:
            self.drop()
            for work in waiting:
                work.result, work.error = None, outcome_unknown(error)
        return has_news

    def _run_alone(self, work: Work) -> bool:
        """True if it was committed and has news. Raises when nobody can tell what became of it."""
        self._begin()
        is_committing = False
        try:
            has_news = self._run_apart(work)
            self._counters.keep(self._cursor)
            is_committing = True
            self._connection.execute("commit")
        except (apsw.Error, TransactionLost) as error:
            self._clear(error, was_committing=is_committing)
            work.result, work.error = None, in_words(error)
            return False
        return has_news

    def _clear(self, cause: Exception, *, was_committing: bool) -> None:
        """Leave no transaction open and nothing half-committed; raises if that cannot be made sure."""
        self._roll_back()
        if was_committing:
            try:
                self._raise_barrier()
            except apsw.FullError:
                self._roll_back()
                if not isinstance(cause, apsw.FullError):
                    raise

    def _raise_barrier(self) -> None:
        self._connection.execute("begin immediate")
        self._connection.execute(sql.raise_barrier.sqlite)
        self._connection.execute("commit")

    def _roll_back(self) -> None:
        self._counters.forget()
        if self._connection.in_transaction:
            self._connection.execute("rollback")


class _HalfDone(Exception):
    """A function failed after it had written, or was too slow for the first time; its cause is the failure."""


def _cause(half: _HalfDone) -> BaseException:
    assert half.__cause__ is not None
    return half.__cause__
