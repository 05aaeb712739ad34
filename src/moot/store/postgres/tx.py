"""A transaction on the pipeline of a session."""

from collections.abc import Iterable, Mapping
from typing import TypeVar, get_args

from psycopg import errors

from moot.core import json
from moot.core.caller import SYSTEM, Caller
from moot.core.clock import Clock
from moot.core.events import Event, Number
from moot.core.tx import Lockable, Query, Value
from moot.store import queries, rows
from moot.store.errors import RowMissing, StoreUnavailable
from moot.store.postgres.pipeline import Pipeline, Reply
from moot.store.tx import StoreTx

sql = queries.beside(__file__)
T = TypeVar("T")


class PostgresTx(StoreTx):
    """`now` is the database's clock after the last lock, or the injected clock."""

    __slots__ = ("_clock", "_late_replies", "_number", "_opening", "_pipeline", "_version")

    def __init__(self, pipeline: Pipeline, source: Clock | None, caller: Caller = SYSTEM) -> None:
        super().__init__(caller)
        self._pipeline = pipeline
        self._clock = source
        self._opening: Reply | None = None
        self._late_replies: list[tuple[Event, Reply]] = []

    def begin(self, version: int) -> None:
        """For writes. What the server says to it is heard with the reply to the first statement."""
        self._pipeline.put("begin")
        self._opening = self._pipeline.put(sql.opening.postgres)
        self._version = version

    @property
    def number(self) -> str:
        """By which PostgreSQL knows the transaction."""
        self._open()
        return self._number

    @property
    def micros(self) -> int:
        if self._micros is None:
            self._open()
        if self._micros is None:
            self._micros = self._clock.micros() if self._clock else self.one(sql.clock, int)
        return self._micros

    def hear_late(self) -> None:
        """What became of the events that were appended last."""
        for event, reply in self._late_replies:
            self._appended(event, reply)

    def _rows(self, query: Query, into: type[T], values: Mapping[str, Value]) -> list[T]:
        statement = query.postgres
        reply = self._put(statement, values)
        if not (found := reply.rows()):
            return []
        read = rows.known_reader(statement, into) or rows.new_reader(statement, into, reply.columns())
        return [read(row) for row in found]

    def run(self, query: Query, /, **values: Value) -> int:
        return self._put(query.postgres, values).count()

    def put(self, query: Query, /, **values: Value) -> None:
        self._pipeline.put(query.postgres, values)

    def many(self, query: Query, rows: Iterable[Mapping[str, Value]]) -> int:
        self._open()  # more rows than one line holds must not go ahead of it
        replies = [self._pipeline.put(query.postgres, row) for row in rows]
        return sum(reply.count() for reply in replies)

    def lock(self, table: Lockable, id: str) -> None:
        ((moment,),) = self._put(_HOLD[table], {"id": id}).rows()
        self._begin(moment)

    def _append(self, event: Event, micros: int) -> Number:
        return self._appended(event, self._put_event(event, micros))

    def _append_late(self, event: Event, micros: int) -> None:
        """On its way together with COMMIT, so that nobody waits for the counter while we are told its number."""
        self._late_replies.append((event, self._put_event(event, micros)))

    def _put_event(self, event: Event, micros: int) -> Reply:
        values = {
            "stream": event.stream,
            "is_quiet": event.is_quiet,
            "kind": event.kind,
            "subject": event.subject,
            "data": json.dumps(event.data),
            "actor": self.caller.name,
            "now": micros,
        }
        return self._pipeline.put(sql.append.postgres, values)

    def _appended(self, event: Event, reply: Reply) -> Number:
        try:
            ((seq, at),) = reply.rows()
        except errors.NotNullViolation as error:
            raise RowMissing(f"There is no stream {event.stream}.") from error
        self.appended.append((event.stream, seq))
        return Number(seq, at)

    def _put(self, statement: str, values: Mapping[str, Value]) -> Reply:
        """Whoever looks at the reply knows that the transaction has begun as it should."""
        reply = self._pipeline.put(statement, values)
        if self._opening is not None:
            self._open()
        return reply

    def _open(self) -> None:
        if self._opening is None:
            return
        opening, self._opening = self._opening, None
        try:
            ((now, found, self._number, _),) = opening.rows()
        except errors.DivisionByZero as error:
            raise StoreUnavailable("The store is being migrated; nothing was written.", "Start it again.") from error
        if found != self._version:
            raise StoreUnavailable(
                f"The store was migrated to version {found} while this process was running.",
                "Start it again.",
            )
        self._begin(now)

    def _begin(self, micros: int) -> None:
        """From here on it is so late."""
        self._micros, self._now = None if self._clock else micros, None


_KEY: dict[Lockable, str] = {"instances": "name", "budgets": "run", "document_rules": "instance"}

# The set of tables is closed, so a name from outside cannot get into a statement.
_HOLD: dict[Lockable, str] = {
    table: sql.hold.postgres.replace("some_table", table).replace("some_key", _KEY.get(table, "id"))
    for table in get_args(Lockable)
}
