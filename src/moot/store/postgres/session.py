"""Connections to PostgreSQL, and the stack of those that nobody uses at the moment.

Not `psycopg_pool`: the worker threads already bound how many there are, so nobody ever waits for one. And here
the thread that needs a connection makes it: a server which is down is named at once, in its own words, and used
again as soon as it is back, where the pool leaves the cause in a log and backs off for minutes.
"""

import contextlib
import threading
from dataclasses import dataclass
from typing import Any, LiteralString, cast

import psycopg
from psycopg.adapt import AdaptersMap, Buffer, Loader
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from psycopg.types.numeric import Int8Dumper

from moot.core.tx import Query
from moot.store import queries
from moot.store.errors import StoreClosed
from moot.store.postgres import faults
from moot.store.postgres.addresses import Database

sql = queries.beside(__file__)
Connection = psycopg.Connection[TupleRow]
Cursor = psycopg.Cursor[TupleRow]


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One connection with its one cursor. Belongs to one thread at a time."""

    connection: Connection
    cursor: Cursor
    process: int  # the server's, which serves this connection
    life: str  # changes when the server crashed, or is another one

    @property
    def is_lost(self) -> bool:
        return self.connection.closed


def connect(address: Database) -> Connection:
    """A connection with our settings, in autocommit; the caller says BEGIN."""
    try:
        return psycopg.connect(
            address.connection,
            autocommit=True,
            prepare_threshold=1,
            context=_adapted,
            cursor_factory=psycopg.Cursor,
        )
    except psycopg.Error as error:
        raise faults.cannot_connect(error, address.place) from error


def open_session(address: Database) -> Session:
    """A connection that knows which life of the server it talks to."""
    connection = connect(address)
    connection.prepared_max = None  # the statements are a closed set
    cursor = connection.cursor()
    try:
        facts: Any = cursor.execute(text(sql.open), {}).fetchone()
    except psycopg.Error as error:
        connection.close()
        raise faults.lost(error, address.place) from error
    return Session(connection, cursor, connection.info.backend_pid, str(facts[0]))


def text(query: Query) -> LiteralString:
    """Statements come from our own files, which is what the type of psycopg asks for."""
    return cast(LiteralString, query.postgres)


class Sessions:
    """Those at rest; the last one used comes first, with its prepared statements."""

    def __init__(self, address: Database) -> None:
        self.address = address
        self._idle: list[Session] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def take(self) -> Session:
        """One for the caller's thread, to be given back; a new one if none is at rest."""
        if self._is_closed:
            raise StoreClosed("The store is closed.", "Open it again.")
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return open_session(self.address)

    def give_back(self, session: Session) -> None:
        """Rolls back what is still open; a broken one is dropped."""
        status = session.connection.pgconn.transaction_status
        if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            with contextlib.suppress(psycopg.Error):  # then the connection is lost, and with it the transaction
                session.cursor.execute("rollback")
            status = session.connection.pgconn.transaction_status
        with self._lock:
            if status == TransactionStatus.IDLE and not self._is_closed:
                self._idle.append(session)
                return
        session.connection.close()

    def forget_idle(self) -> None:
        """One was lost: the others at rest may be dead too, and nobody should find out one by one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for session in idle:
            session.connection.close()

    def close(self) -> None:
        """Those in use are closed when they come back."""
        with self._lock:
            self._is_closed = True
        self.forget_idle()


class _NumberLoader(Loader):
    """`sum` and `avg` of whole numbers as SQLite gives them: whole, or floating."""

    def load(self, data: Buffer) -> int | float:
        number = bytes(data)
        return float(number) if b"." in number else int(number)


def _adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    # Always the columns' type: by default an int's type follows its size, and every size is prepared anew.
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_loader("numeric", _NumberLoader)
    return adapters


class _Adapted:
    """How values are translated, in the form that psycopg takes it."""

    adapters = _adapters()
    connection = None


_adapted = _Adapted()
