"""Connections to PostgreSQL, and the stack of those that nobody uses at the moment.

Not `psycopg_pool`: the worker threads already bound how many there are, so nobody ever waits for one. And here
the thread that needs a connection makes it: a server which is down is named at once, in its own words, and used
again as soon as it is back, where the pool leaves the cause in a log and backs off for minutes.
"""

import contextlib
import threading
from dataclasses import dataclass
from typing import LiteralString, cast

import psycopg
from psycopg.pq import TransactionStatus

from moot.core.tx import Query
from moot.store import queries
from moot.store.errors import StoreClosed
from moot.store.postgres import faults
from moot.store.postgres.addresses import Database
from moot.store.postgres.pipeline import Connection, Pipeline
from moot.store.postgres.values import adapted

sql = queries.beside(__file__)


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One connection, spoken to through its one pipeline. Belongs to one thread at a time."""

    connection: Connection
    pipeline: Pipeline
    process: int  # the server's, which serves this connection
    life: str  # changes when the server crashed, or is another one

    @property
    def is_lost(self) -> bool:
        return self.connection.closed

    @property
    def is_at_rest(self) -> bool:
        """Whether no transaction is open and nothing on its way."""
        return self.connection.pgconn.transaction_status == TransactionStatus.IDLE and self.pipeline.is_settled

    def roll_back(self) -> None:
        if not self.pipeline.is_settled:
            self.pipeline.settle()  # apart: if something in it fails, the server leaves out what is sent behind it
        self.pipeline.put("rollback").hear()


def connect(address: Database) -> Connection:
    """A connection with our settings, in autocommit; the caller says BEGIN."""
    try:
        return psycopg.connect(
            address.connection,
            autocommit=True,
            prepare_threshold=1,
            context=adapted,
            cursor_factory=psycopg.Cursor,
        )
    except psycopg.Error as error:
        raise faults.cannot_connect(error, address.place) from error


def open_session(address: Database) -> Session:
    return start_session(connect(address), address)


def start_session(connection: Connection, address: Database) -> Session:
    """From here on the connection belongs to its pipeline; the session knows which life of the server it talks to."""
    try:
        pipeline = Pipeline(connection)
        ((life, _),) = pipeline.put(sql.open.postgres).rows()
    except psycopg.Error as error:
        connection.close()
        raise faults.lost(error, address.place) from error
    return Session(connection, pipeline, connection.info.backend_pid, str(life))


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
        if not session.is_at_rest:
            with contextlib.suppress(psycopg.Error):  # then the connection is lost, and with it the transaction
                session.roll_back()
        with self._lock:
            if session.is_at_rest and not self._is_closed:
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
