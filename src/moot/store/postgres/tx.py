"""A transaction on a psycopg cursor."""

from collections.abc import Iterable, Mapping
from typing import Any, LiteralString, TypeVar, cast, get_args

from moot.core.caller import SYSTEM, Caller
from moot.core.clock import Clock
from moot.core.tx import Lockable, Query, Value
from moot.store import queries, rows
from moot.store.errors import StoreUnavailable
from moot.store.postgres.session import Cursor, text
from moot.store.postgres.values import bound
from moot.store.tx import StoreTx

sql = queries.beside(__file__)
T = TypeVar("T")


class PostgresTx(StoreTx):
    """`now` is the database's clock after the last lock, or the injected clock."""

    __slots__ = ("_clock", "_cursor")

    def __init__(self, cursor: Cursor, source: Clock | None, caller: Caller = SYSTEM) -> None:
        super().__init__(caller)
        self._cursor = cursor
        self._clock = source

    def open(self, version: int) -> str:
        """For writes, right after BEGIN. Returns the number by which PostgreSQL knows the transaction."""
        row: Any = self._cursor.execute(text(sql.opening), {}).fetchone()
        now, found, number, is_settled = row
        if not is_settled:
            raise StoreUnavailable("The store is being migrated; nothing was written.", "Start it again.")
        if found != version:
            raise StoreUnavailable(
                f"The store was migrated to version {found} while this process was running.",
                "Start it again.",
            )
        self._begin(now)
        return str(number)

    @property
    def micros(self) -> int:
        if self._micros is None:
            self._micros = self._clock.micros() if self._clock else self.one(sql.clock, int)
        return self._micros

    def _rows(self, query: Query, into: type[T], values: Mapping[str, Value]) -> list[T]:
        cursor = self._cursor.execute(text(query), bound(values))
        found = cursor.fetchall()
        if not found:
            return []
        statement = query.postgres
        read = rows.known_reader(statement, into) or rows.new_reader(statement, into, _columns(cursor))
        return [read(row) for row in found]

    def run(self, query: Query, /, **values: Value) -> int:
        return self._cursor.execute(text(query), bound(values)).rowcount

    def many(self, query: Query, rows: Iterable[Mapping[str, Value]]) -> int:
        parameters = [bound(row) for row in rows]
        if not parameters:
            return 0
        self._cursor.executemany(text(query), parameters)
        return self._cursor.rowcount

    def lock(self, table: Lockable, id: str) -> None:
        moment: Any = self._cursor.execute(_HOLD[table], {"id": id}).fetchone()
        self._begin(moment[0])

    def _begin(self, micros: int) -> None:
        """From here on it is so late."""
        self._micros, self._now = None if self._clock else micros, None


_KEY: dict[Lockable, str] = {"instances": "name", "budgets": "run", "document_rules": "instance"}

# The set of tables is closed, so a name from outside cannot get into a statement.
_HOLD: dict[Lockable, LiteralString] = {
    table: cast(
        LiteralString, sql.hold.postgres.replace("some_table", table).replace("some_key", _KEY.get(table, "id"))
    )
    for table in get_args(Lockable)
}


def _columns(cursor: Cursor) -> tuple[str, ...]:
    return tuple(column.name for column in cursor.description or ())
