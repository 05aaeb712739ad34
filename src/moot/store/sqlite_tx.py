"""A transaction on an apsw connection."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import apsw

from moot.core import clock, ids
from moot.core.caller import SYSTEM, Caller
from moot.core.clock import Clock
from moot.core.events import Event
from moot.core.tx import Lockable, Query, Value
from moot.store import rows, streams
from moot.store.errors import RowMissing

T = TypeVar("T")


class SqliteTx:
    """Serves both reading and writing; the connection decides what is possible."""

    __slots__ = ("_clock", "_connection", "_now", "caller", "has_news")

    def __init__(self, connection: apsw.Connection, source: Clock, caller: Caller = SYSTEM) -> None:
        self._connection = connection
        self._clock = source
        self._now: datetime | None = None
        self.caller = caller
        self.has_news = False

    @property
    def now(self) -> datetime:
        """One moment for the whole function."""
        if self._now is None:
            self._now = self._clock.now()
        return self._now

    def new_id(self, prefix: str) -> str:
        return ids.new(prefix, self.now)

    def one(self, query: Query, into: type[T], **values: Value) -> T:
        found = self.maybe(query, into, **values)
        if found is None:
            raise RowMissing(f"The statement {query.name} found no row for {values}.")
        return found

    def maybe(self, query: Query, into: type[T], **values: Value) -> T | None:
        found = self.all(query, into, **values)
        return found[0] if found else None

    def all(self, query: Query, into: type[T], **values: Value) -> list[T]:
        cursor = self._connection.execute(query.sqlite, bound(values))
        first = next(cursor, None)
        if first is None:
            return []
        read = rows.reader(into, tuple(column[0] for column in cursor.get_description()))
        found = [read(first)]
        found += [read(row) for row in cursor]
        return found

    def run(self, query: Query, **values: Value) -> int:
        self._connection.execute(query.sqlite, bound(values))
        return self._connection.changes()

    def many(self, query: Query, rows: Iterable[Mapping[str, Value]]) -> int:
        before = self._connection.total_changes()
        self._connection.executemany(query.sqlite, [bound(row) for row in rows])
        return self._connection.total_changes() - before

    def lock(self, table: Lockable, id: str) -> None:
        """Nothing to do: the writer is alone."""

    def emit(self, event: Event) -> int:
        self.has_news = True
        return streams.append(self, event)

    def wake(self) -> None:
        self.has_news = True


def bound(values: Mapping[str, Value]) -> dict[str, Any]:
    """Values as SQLite stores them: moments as microseconds, booleans as 0 and 1."""
    return {
        name: clock.to_micros(value) if isinstance(value, datetime) else value for name, value in values.items()
    }
