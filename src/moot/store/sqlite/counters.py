"""Counters: the last number and time of each stream that a transaction of the database appends to, and what it appends.

A stream's row is read for its first event and written once, with all events together, before the commit or before a
statement that looks at either. So the events of many functions that share a commit take three statements together for
what would take three for each; and as long as nobody else writes to the database, the row need not be read again.
"""

from dataclasses import dataclass
from typing import Any

import apsw

from moot.core import json
from moot.core.events import Event, Number
from moot.core.ids import StreamId
from moot.store import queries
from moot.store.errors import RowMissing
from moot.store.sqlite.statements import statements

sql = queries.beside(__file__)
_LAST, _KEEP, _ADD = statements[sql.last.sqlite], statements[sql.keep.sqlite], statements[sql.add_event.sqlite]
_MOST_KNOWN = 100
_Row = tuple[str, int, str, str, str, str, int]  # of an event, as its statement names its values


@dataclass(slots=True)
class Counter:
    """A stream's row, as it will be written."""

    seq: int
    at: int  # in microseconds, as stored
    reacted: int  # up to where every reaction has seen the stream
    is_changed: bool = False


class Counters:
    """What was counted. Forgotten by whoever undoes any of it, and when somebody else has written."""

    def __init__(self) -> None:
        self._counters: dict[StreamId, Counter] = {}
        self._events: list[_Row] = []

    @property
    def waiting(self) -> int:
        """How many events are not written yet."""
        return len(self._events)

    def append(self, cursor: apsw.Cursor, event: Event, actor: str, micros: int) -> Number:
        """What the event is kept under. Committed order is the order of numbers, without gaps, and times follow it, no
        two alike, also when the clock does not."""
        data = json.dumps(event.data)
        event.subject.encode()  # what cannot be kept fails here, in the function that says it
        counter = self._counters.get(event.stream) or self._read(cursor, event.stream)
        if event.is_quiet and counter.reacted == counter.seq:
            counter.reacted += 1
        counter.seq += 1
        counter.at = counter.at + 1 if counter.at >= micros else micros
        counter.is_changed = True
        self._events.append((event.stream, counter.seq, event.kind, event.subject, data, actor, counter.at))
        return Number(counter.seq, counter.at)

    def write(self, cursor: apsw.Cursor) -> None:
        """For whoever reads or changes the rows themselves; what they say then is read again."""
        self.keep(cursor)
        self._counters.clear()

    def keep(self, cursor: apsw.Cursor) -> None:
        """What is committed then is known for the next transaction."""
        if not self._events:
            return
        cursor.executemany(_ADD.text, self._events).fetchall()
        self._events.clear()
        counters = self._counters
        rows = [(one.seq, one.at, one.reacted, stream) for stream, one in counters.items() if one.is_changed]
        cursor.executemany(_KEEP.text, rows).fetchall()
        if len(counters) > _MOST_KNOWN:
            counters.clear()
        for one in counters.values():
            one.is_changed = False

    def forget(self) -> None:
        self._events.clear()
        self._counters.clear()

    def _read(self, cursor: apsw.Cursor, stream: StreamId) -> Counter:
        found: list[Any] = cursor.execute(_LAST.text, (stream,)).fetchall()
        if not found:
            raise RowMissing(f"There is no stream {stream}.")
        read = self._counters[stream] = Counter(*found[0])
        return read
