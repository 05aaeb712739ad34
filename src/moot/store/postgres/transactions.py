"""Runs a function in a transaction on PostgreSQL until its outcome is known.

After a conflict with another transaction, or a connection lost before COMMIT, nothing was written, and the function
runs again. When the connection is lost during COMMIT, the server is asked what became of the transaction, by its
number. The answer counts only within one life of the server: a crash forgets numbers that were not on disk and
gives them out again, so that afterwards `committed` may speak of somebody else's transaction.
"""

import contextlib
import random
import threading
from collections.abc import Callable, Generator
from time import monotonic
from typing import Literal, TypeVar

import psycopg
from psycopg import errors

from moot.core.caller import Caller
from moot.core.clock import Clock
from moot.core.errors import MootError
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries, timing
from moot.store.errors import StoreUnavailable, TransactionTooSlow
from moot.store.postgres import faults
from moot.store.postgres.session import Session, Sessions, open_session
from moot.store.postgres.tx import PostgresTx
from moot.store.store import Limits

sql = queries.beside(__file__)
T = TypeVar("T")
Outcome = Literal["committed", "aborted", "in progress", "unknown"]


@record
class Patience:
    """How long a function is run again, and the outcome of a commit asked for, before the caller hears."""

    seconds: float = 15.0
    tries: int = 20
    first_pause: float = 0.01
    longest_pause: float = 1.0

    def pauses(self) -> Generator[float]:
        """One after each try, growing, with some chance so that two who clash do not clash again."""
        until = monotonic() + self.seconds
        pause = self.first_pause
        for _ in range(self.tries):
            if monotonic() >= until:
                return
            yield pause * random.uniform(0.5, 1.5)
            pause = min(2 * pause, self.longest_pause)


class Again(Exception):
    """Nothing was written, and the function may run once more; `refusal` is what the caller hears otherwise."""

    def __init__(self, refusal: MootError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@record
class Means:
    """What transactions are made of."""

    sessions: Sessions
    clock: Clock | None  # None: the database's
    limits: Limits
    patience: Patience
    version: int


class Transactions:
    """Every method blocks, on a worker thread."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._is_closing = threading.Event()

    def write(self, change: Callable[[Tx], T], caller: Caller) -> tuple[T, bool]:
        """The function's result after the commit, and whether it has news for readers."""
        try:
            return self._until_done(lambda: self._write_once(change, caller))
        except TransactionTooSlow:  # perhaps not by its own fault
            return self._until_done(lambda: self._write_once(change, caller))

    def read(self, look: Callable[[ReadTx], T]) -> T:
        return self._until_done(lambda: self._read_once(look))

    def hurry(self) -> None:
        """The store is closing: no more pauses."""
        self._is_closing.set()

    def _until_done(self, once: Callable[[], T]) -> T:
        refusal: MootError | None = None
        for pause in self._means.patience.pauses():
            try:
                return once()
            except Again as again:
                refusal = again.refusal
                if self._is_closing.wait(pause):
                    break
        assert refusal is not None
        raise refusal

    def _write_once(self, change: Callable[[Tx], T], caller: Caller) -> tuple[T, bool]:
        session = self._take()
        tx = PostgresTx(session.pipeline, self._means.clock, caller)
        try:
            with self._nothing_written(session):
                tx.begin(self._means.version)
                result = timing.watched(tx.perform, change, self._means.limits)
                self._commit(session, tx)
        finally:
            self._means.sessions.give_back(session)
        return result, tx.has_news

    def _read_once(self, look: Callable[[ReadTx], T]) -> T:
        session = self._take()
        try:
            with self._nothing_written(session):
                session.pipeline.put("begin isolation level repeatable read read only")
                found = look(PostgresTx(session.pipeline, self._means.clock))
                session.pipeline.put("commit").hear()
        finally:
            self._means.sessions.give_back(session)
        return found

    def _take(self) -> Session:
        try:
            return self._means.sessions.take()
        except StoreUnavailable as refusal:
            raise Again(refusal) from refusal

    @contextlib.contextmanager
    def _nothing_written(self, session: Session) -> Generator[None]:
        """What a database error means before COMMIT was sent, or when COMMIT was refused."""
        try:
            yield
        except psycopg.Error as error:
            if session.is_lost:
                self._means.sessions.forget_idle()
                raise Again(faults.lost(error, self._means.sessions.address.place)) from error
            if isinstance(error, faults.CONFLICTS):
                raise Again(faults.conflict(error)) from error
            if (known := faults.named(error)) is not None:
                raise known from error
            raise

    def _commit(self, session: Session, tx: PostgresTx) -> None:
        number = tx.number
        committing = session.pipeline.put("commit")
        try:
            session.pipeline.settle()
        except psycopg.Error as error:
            self._means.sessions.forget_idle()
            self._learn_outcome(session, number, error)
            return
        tx.hear_late()
        if committing.hear() != "COMMIT":
            raise StoreUnavailable(
                "A statement had failed, its function went on, and nothing was written.",
                "This is a fault in moot.",
            )

    def _learn_outcome(self, session: Session, number: str, error: psycopg.Error) -> None:
        """Returns if the transaction was committed."""
        place = self._means.sessions.address.place
        for pause in self._means.patience.pauses():
            match self._outcome(session, number):
                case "committed":
                    return
                case "aborted":
                    raise Again(faults.lost(error, place)) from error
                case "unknown":
                    break
                case "in progress":
                    if self._is_closing.wait(pause):
                        break
        raise faults.unknown_outcome(error, place) from error

    def _outcome(self, session: Session, number: str) -> Outcome:
        """`in progress` also when the server cannot be asked: ask again."""
        try:
            fresh = open_session(self._means.sessions.address)
        except MootError:
            return "in progress"
        with contextlib.closing(fresh.connection):
            try:
                status = _status(fresh, number)
                if fresh.life != session.life:
                    return "unknown" if status == "committed" else "aborted"
                if status == "in progress":
                    ending = {"process": session.process, "number": number}
                    fresh.pipeline.put(sql.end_process.postgres, ending).hear()
                return status
            except psycopg.Error:
                return "in progress"


def _status(fresh: Session, number: str) -> Outcome:
    try:
        ((status,),) = fresh.pipeline.put(sql.outcome.postgres, {"number": number}).rows()
    except errors.InvalidParameterValue:  # a number of the future: after a crash, one that never reached the disk
        return "aborted"
    return status or "unknown"  # nothing: too long ago to tell
