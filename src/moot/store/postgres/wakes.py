"""Wake-ups between processes through PostgreSQL: NOTIFY after commits, LISTEN while somebody wants to know.

Both have a connection of their own: NOTIFY inside the writing transactions would put one lock around all their
commits. A wake is a hint; after every new connection, and after some silence, listeners are rung anyway.
"""

import contextlib
import logging
import selectors
import socket
import threading
from collections.abc import Callable

import psycopg
from psycopg.sql import SQL, Identifier

from moot.core.errors import MootError
from moot.store import queries
from moot.store.postgres.addresses import Database
from moot.store.postgres.pipeline import Connection
from moot.store.postgres.session import connect, text

sql = queries.beside(__file__)
_log = logging.getLogger("moot.store")
_BACKSTOP_SECONDS = 5.0
_REST = 0.01
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0
_CLOSING_SECONDS = 10.0


class Notifier:
    """Tells the others. The first commit after a rest is told at once; all that happen while its NOTIFY is on its way,
    or shortly after, share the next: otherwise a busy process would send as many as it commits, each at the price of a
    small transaction."""

    def __init__(self, address: Database, sender: str) -> None:
        self._address = address
        self._sender = sender
        self._changed = threading.Condition()
        self._has_news = False
        self._is_waiting = False  # for news; not when it rests from the last ones
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self._connection: Connection | None = None

    def notify(self) -> None:
        """Returns at once. Called after a commit, from any thread."""
        with self._changed:
            self._has_news = True
            if self._thread is None and not self._is_closing:
                self._thread = threading.Thread(target=self._work, name="moot-notifier", daemon=True)
                self._thread.start()
            if self._is_waiting:
                self._changed.notify()

    def close(self) -> None:
        """Send what is left, if the server can be reached, and end."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(_CLOSING_SECONDS)

    def _work(self) -> None:
        pause = _FIRST_PAUSE
        while self._wait_for_news():
            if self._send():
                pause = _FIRST_PAUSE
                self._is_closing_within(_REST)
            elif self._is_over(pause):
                break
            else:
                pause = min(2 * pause, _LONGEST_PAUSE)
        self._hang_up()

    def _wait_for_news(self) -> bool:
        with self._changed:
            self._is_waiting = True
            self._changed.wait_for(lambda: self._has_news or self._is_closing)
            self._is_waiting = False
            has_news, self._has_news = self._has_news, False
            return has_news

    def _send(self) -> bool:
        values = {"channel": self._address.channel, "sender": self._sender}
        try:
            self._connection = self._connection or connect(self._address)
            self._connection.execute(text(sql.notify), values)
        except (psycopg.Error, MootError) as error:
            _log.warning("other processes were not woken: %s", error)
            self._hang_up()
            return False
        return True

    def _is_over(self, pause: float) -> bool:
        """After a failure: the news are still news, unless there is no time left for them."""
        with self._changed:
            self._has_news = True
        return self._is_closing_within(pause)

    def _is_closing_within(self, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._is_closing, seconds)

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Listener:
    """Hears the others, on its own thread, from `start` until `close`, or until nobody wants to know."""

    def __init__(self, address: Database, sender: str, is_wanted: Callable[[], bool], ring: Callable[[], None]) -> None:
        self._address = address
        self._sender = sender.encode()
        self._is_wanted = is_wanted
        self._ring = ring  # called on the listening thread
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._stop, self._stopped = socket.socketpair()

    def start(self) -> None:
        """Does nothing while it runs."""
        with self._lock:
            if self._thread is None and not self._is_closing:
                self._thread = threading.Thread(target=self._work, name="moot-listener", daemon=True)
                self._thread.start()

    def close(self) -> None:
        with self._lock:
            if self._is_closing:
                return
            self._is_closing = True
            thread = self._thread
        self._stop.send(b"x")
        if thread is not None:
            thread.join(_CLOSING_SECONDS)
        self._stop.close()
        self._stopped.close()

    def _work(self) -> None:
        pause = _FIRST_PAUSE
        with selectors.DefaultSelector() as selector:
            selector.register(self._stopped, selectors.EVENT_READ)
            while True:
                try:
                    with contextlib.closing(connect(self._address)) as connection:
                        connection.execute(SQL("listen {}").format(Identifier(self._address.channel)))
                        pause = _FIRST_PAUSE
                        self._hear(connection, selector)
                        return
                except (psycopg.Error, MootError) as error:
                    _log.warning("wake-ups from other processes are interrupted: %s", error)
                selector.select(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                self._ring()
                if self._is_over():
                    return

    def _hear(self, connection: Connection, selector: selectors.BaseSelector) -> None:
        """Ring for what was committed before we listened, then for every notice, and after every silence."""
        descriptor = connection.fileno()
        selector.register(descriptor, selectors.EVENT_READ)
        try:
            self._ring()
            while not self._is_over():
                is_silent = not selector.select(_BACKSTOP_SECONDS)
                if self._has_notices(connection) or is_silent:
                    self._ring()
        finally:
            selector.unregister(descriptor)

    def _has_notices(self, connection: Connection) -> bool:
        """Whether other processes have sent any; ours were rung directly."""
        has_notices = False
        connection.pgconn.consume_input()
        while (notice := connection.pgconn.notifies()) is not None:
            has_notices |= notice.extra != self._sender
        return has_notices

    def _is_over(self) -> bool:
        """True once: then this thread ends, and the next listener starts another."""
        with self._lock:
            if self._is_closing or not self._is_wanted():
                self._thread = None
                return True
            return False
