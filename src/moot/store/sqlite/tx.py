"""A transaction on an apsw connection."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar, cast

import apsw

from moot.core.caller import SYSTEM, Caller
from moot.core.clock import Clock
from moot.core.events import Event, Number
from moot.core.tx import Lockable, Query, Value
from moot.store import queries, rows, streams
from moot.store.sqlite.faults import TransactionLost
from moot.store.tx import StoreTx

T = TypeVar("T")


class SqliteTx(StoreTx):
    """The connection decides whether it may write."""

    __slots__ = ("_clock", "_connection", "_cursor")

    def __init__(self, cursor: apsw.Cursor, source: Clock, caller: Caller = SYSTEM) -> None:
        super().__init__(caller)
        self._connection = cursor.connection
        self._cursor = cursor  # one for all statements, of this transaction and others: each is read to its end
        self._clock = source

    @property
    def micros(self) -> int:
        if self._micros is None:
            self._micros = self._clock.micros()
        return self._micros

    def _rows(self, query: Query, into: type[T], values: Mapping[str, Value]) -> list[T]:
        cursor = self._execute(query, values)
        if (read := rows.known_reader(query.sqlite, into)) is not None:
            return list(map(read, cursor.fetchall()))
        if (first := next(cursor, None)) is None:
            return []
        columns = tuple(column[0] for column in cursor.get_description())
        # All rows before the first record: a statement that an error leaves half-read would block every commit.
        found = [first, *cursor]
        read = rows.new_reader(query.sqlite, into, columns)
        return [read(row) for row in found]

    def run(self, query: Query, /, **values: Value) -> int:
        for _ in self._execute(query, values):  # to its end, without a list of what nobody wants
            pass
        return self._connection.changes()

    def put(self, query: Query, /, **values: Value) -> None:
        self._execute(query, values).fetchall()

    def many(self, query: Query, rows: Iterable[Mapping[str, Value]]) -> int:
        if not self._connection.in_transaction:
            raise _late(query)
        before = self._connection.total_changes()
        self._cursor.executemany(query.sqlite, map(_in_order(query.sqlite), rows)).fetchall()
        return self._connection.total_changes() - before

    def _execute(self, query: Query, values: Mapping[str, Any]) -> apsw.Cursor:
        if not self._connection.in_transaction:
            raise _late(query)
        return self._cursor.execute(query.sqlite, _in_order(query.sqlite)(values))

    def lock(self, table: Lockable, id: str) -> None:
        """Nothing to do: the writer is alone."""

    def _append(self, event: Event, micros: int) -> Number:
        number = streams.append(self, event, micros)
        self.appended.append((event.stream, number.seq))
        return number

    def _append_late(self, event: Event, micros: int) -> None:
        self._append(event, micros)


def _late(query: Query) -> TransactionLost:
    """After the database has ended the transaction, a statement would be committed on its own, at once."""
    return TransactionLost(f"{query.name} came after the end of its transaction")


@cache
def _in_order(statement: str) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Its values as they are bound: by place, because looking up names takes as long as many a statement."""
    match queries.parameters(statement):
        case ():
            return lambda values: ()
        case (name,):
            return lambda values: (values[name],)
        case names:
            return cast(Callable[[Mapping[str, Any]], tuple[Any, ...]], itemgetter(*names))
