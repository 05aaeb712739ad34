"""What transactions on both databases have in common: single rows, ids, and the order in which events are appended."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import TypeVar

from moot.core import clock, ids
from moot.core.caller import Caller
from moot.core.events import Event, Number
from moot.core.ids import StreamId
from moot.core.tx import Lockable, Query, Tx, Value
from moot.store.errors import RowMissing

T = TypeVar("T")


class StoreTx(ABC):
    """Serves both reading and writing; how it was begun decides what is possible."""

    __slots__ = ("_late", "_micros", "_now", "appended", "caller", "has_news")

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.has_news = False
        self.appended: list[tuple[StreamId, int]] = []
        self._late: list[Event] = []
        self._micros: int | None = None  # what the clock said, when somebody asked
        self._now: datetime | None = None  # the same for people

    def perform(self, change: Callable[[Tx], T]) -> T:
        """Run the function, then append what it announced.

        A stream's counter stays locked from its first event to the commit. Taking it last, and several in one order,
        keeps that short and makes it impossible to wait in a circle.
        """
        result = change(self)
        if late := self._late:
            self.has_news = True
            micros = self.micros
            for event in sorted(late, key=attrgetter("stream")) if len(late) > 1 else late:
                self._append_late(event, micros)
        return result

    def new_id(self, prefix: str) -> str:
        return ids.new(prefix, self.micros)

    def one(self, query: Query, into: type[T], /, **values: Value) -> T:
        found = self._rows(query, into, values)
        if not found:
            raise RowMissing(f"The statement {query.name} found no row for {values}.")
        return found[0]

    def maybe(self, query: Query, into: type[T], /, **values: Value) -> T | None:
        found = self._rows(query, into, values)
        return found[0] if found else None

    def all(self, query: Query, into: type[T], /, **values: Value) -> list[T]:
        return self._rows(query, into, values)

    def announce(self, event: Event) -> None:
        self._late.append(event)

    def emit(self, event: Event) -> Number:
        self.has_news = True
        return self._append(event, self.micros)

    def wake(self) -> None:
        self.has_news = True

    @property
    def now(self) -> datetime:
        """One moment for the whole function, unless it waits for a lock in between."""
        if self._now is None:
            self._now = clock.from_micros(self.micros)
        return self._now

    @property
    @abstractmethod
    def micros(self) -> int:
        """The same moment as it is stored; ids and events need no other form of it."""

    @abstractmethod
    def _rows(self, query: Query, into: type[T], values: Mapping[str, Value]) -> list[T]: ...

    @abstractmethod
    def run(self, query: Query, /, **values: Value) -> int: ...

    @abstractmethod
    def many(self, query: Query, rows: Iterable[Mapping[str, Value]]) -> int: ...

    @abstractmethod
    def put(self, query: Query, /, **values: Value) -> None: ...

    @abstractmethod
    def lock(self, table: Lockable, id: str) -> None: ...

    @abstractmethod
    def _append(self, event: Event, micros: int) -> Number:
        """Keep the event under its stream's next number, and note both in `appended`."""

    @abstractmethod
    def _append_late(self, event: Event, micros: int) -> None:
        """The same where nobody asks for the number before the commit."""
