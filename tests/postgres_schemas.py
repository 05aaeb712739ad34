"""Stores on PostgreSQL that were made already: to make one takes longer than most tests, to empty one does not."""

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType

import psycopg
from psycopg.sql import SQL, Composed, Identifier, Literal

from moot.store.postgres import addresses, schema, session

_SETTINGS = "-c session_replication_role=replica -c lock_timeout=5s"  # no checks of references while they are emptied
_TABLES = SQL("select relname from pg_class where relnamespace = %s::regnamespace and relkind = 'r' order by 1")


class Schemas:
    """Lends each schema to one test at a time and empties it in between; drops them all in the end."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._connection = psycopg.connect(server, autocommit=True, options=_SETTINGS)
        self._free: list[str] = []
        self._emptying: dict[str, Composed] = {}

    def __enter__(self) -> "Schemas":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in self._free:
            self._drop(name)
        self._connection.close()

    @contextmanager
    def lent(self) -> Generator[str]:
        """The address of an empty store."""
        name = self._free.pop() if self._free else self._make()
        yield f"{self._server}&schema={name}"
        try:
            self._connection.execute(self._emptying[name])
        except psycopg.Error:  # the test has changed its shape, or left somebody at work in it
            self._drop(name)
        else:
            self._free.append(name)

    def _make(self) -> str:
        name = f"lent_{secrets.token_hex(6)}"
        address = addresses.parse(f"{self._server}&schema={name}")
        with session.connect(address) as connection:
            schema.prepare(connection, address, create=True, clock=None)
        tables = [row[0] for row in self._connection.execute(_TABLES, [name])]
        self._emptying[name] = SQL("; ").join(self._anew(name, table) for table in tables)
        return name

    def _anew(self, schema: str, table: str) -> Composed:
        """What makes a table what it was when the store was made: empty, but for its version and the like."""
        whole = Identifier(schema, table)
        rows = self._connection.execute(SQL("select * from {}").format(whole)).fetchall()
        parts = [SQL("delete from {}").format(whole)]
        parts += [SQL("insert into {} values ({})").format(whole, SQL(", ").join(map(Literal, row))) for row in rows]
        return SQL("; ").join(parts)

    def _drop(self, name: str) -> None:
        self._connection.execute(SQL("drop schema if exists {} cascade").format(Identifier(name)))
