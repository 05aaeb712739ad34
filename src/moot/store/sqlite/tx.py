"""A transaction on an apsw connection."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import apsw

from moot.core.caller import SYSTEM, Caller
from moot.core.clock import Clock
from moot.core.events import Event, Number
from moot.core.tx import Lockable, Query, Value
from moot.store import rows
from moot.store.sqlite.counters import Counters
from moot.store.sqlite.faults import TransactionLost
from moot.store.sqlite.statements import Statement, statements
from moot.store.tx import StoreTx

T = TypeVar("T")


class SqliteTx(StoreTx):
    """The connection decides whether it may write."""

    __slots__ = ("_clock", "_connection", "_counters", "_cursor")

    def __init__(self, cursor: apsw.Cursor, source: Clock, counters: Counters, caller: Caller = SYSTEM) -> None:
        super().__init__(caller)
        self._counters = counters
        self._connection = cursor.connection
        self._cursor = cursor  # one for all statements, of this transaction and others: each is read to its end
        self._clock = source

    @property
    def micros(self) -> int:
        if self._micros is None:
            self._micros = self._clock.micros()
        return self._micros

    def _rows(self, query: Query, into: type[T], values: Mapping[str, Value]) -> list[T]:
        statement = statements[query.sqlite]
        cursor = self._execute(query, statement, values)
        if (read := statement.readers.get(into)) is not None:
            return list(map(read, cursor.fetchall()))
        if (first := next(cursor, None)) is None:
            return []
        columns = tuple(column[0] for column in cursor.get_description())
        # All rows before the first record: a statement that an error leaves half-read would block every commit.
        found = [first, *cursor]
        read = statement.readers[into] = rows.reader(into, columns)
        return [read(row) for row in found]

    def run(self, query: Query, /, **values: Value) -> int:
        self.put(query, **values)
        return self._connection.changes()

    def put(self, query: Query, /, **values: Value) -> None:
        for _ in self._execute(query, statements[query.sqlite], values):  # to its end; a list takes as long to make
            pass  # as many a statement

    def many(self, query: Query, rows: Iterable[Mapping[str, Value]]) -> int:
        if not self._connection.in_transaction:
            raise _late(query.name)
        statement = statements[query.sqlite]
        if statement.looks_at_streams:
            self._counters.write(self._cursor)
        before = self._connection.total_changes()
        self._cursor.executemany(statement.text, map(statement.in_order, rows)).fetchall()
        return self._connection.total_changes() - before

    def _execute(self, query: Query, statement: Statement, values: Mapping[str, Any]) -> apsw.Cursor:
        if not self._connection.in_transaction:
            raise _late(query.name)
        if statement.looks_at_streams:
            self._counters.write(self._cursor)
        return self._cursor.execute(statement.text, statement.in_order(values))

    def lock(self, table: Lockable, id: str) -> None:
        """Nothing to do: the writer is alone."""

    def _append(self, event: Event, micros: int) -> Number:
        if not self._connection.in_transaction:
            raise _late(event.kind)
        number = self._counters.append(self._cursor, event, self.caller.name, micros)
        self.appended.append((event.stream, number.seq))
        return number

    def _append_late(self, event: Event, micros: int) -> None:
        self._append(event, micros)


def _late(name: str) -> TransactionLost:
    """After the database has ended the transaction, a statement would be committed on its own, at once."""
    return TransactionLost(f"{name} came after the end of its transaction")
