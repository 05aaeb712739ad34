"""The transaction that domain functions work in, as they see it; `store` implements it per database."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeVar

from moot.core.caller import Caller
from moot.core.events import Event, Number
from moot.core.ids import StreamId
from moot.core.records import record

T = TypeVar("T")
Value = str | int | float | bytes | bool | datetime | None
# In the order in which transactions take them, so that nobody waits in a circle.
Lockable = Literal[
    "instances",
    "workspaces",
    "jobs",
    "agents",
    "attempts",
    "budgets",
    "proposals",
    "requests",
    "document_rules",
    "streams",
    "flows",
]


@record
class Query:
    """One named statement in each database's words."""

    name: str
    sqlite: str
    postgres: str


class ReadTx(Protocol):
    """One snapshot of the store. Every statement's rows are fetched whole."""

    @property
    def now(self) -> datetime: ...

    @property
    def micros(self) -> int:
        """The same moment as it is stored: to make a datetime of it, and that of a datetime, takes as long as a small
        statement."""
        ...

    def one(self, query: Query, into: type[T], /, **values: Value) -> T: ...

    def maybe(self, query: Query, into: type[T], /, **values: Value) -> T | None: ...

    def all(self, query: Query, into: type[T], /, **values: Value) -> list[T]: ...


class Tx(ReadTx, Protocol):
    """A write that commits whole or not at all. The function in it may run more than once."""

    @property
    def caller(self) -> Caller: ...

    @property
    def appended(self) -> Sequence[tuple[StreamId, int]]:
        """Stream and number of what was emitted; of what was announced, too, when the function has returned."""
        ...

    def new_id(self, prefix: str) -> str: ...

    def run(self, query: Query, /, **values: Value) -> int:
        """Execute and count the rows touched."""
        ...

    def put(self, query: Query, /, **values: Value) -> None:
        """Execute where nobody asks what was touched. On a server it goes there with the next statement, or with the
        commit, and so does the news that it failed."""
        ...

    def many(self, query: Query, rows: Iterable[Mapping[str, Value]]) -> int: ...

    def lock(self, table: Lockable, id: str) -> None:
        """Hold this row until the end: needed before any read that a later write depends on."""
        ...

    def emit(self, event: Event) -> Number:
        """Append to the event's stream and return its number and time. Holds the stream's counter, so call it late."""
        ...

    def announce(self, event: Event) -> None:
        """Append when the function has returned: for events whose number nobody needs."""
        ...

    def wake(self) -> None:
        """Tell readers after the commit, though nothing was emitted (new jobs do this)."""
        ...
