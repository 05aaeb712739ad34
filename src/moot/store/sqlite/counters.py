"""Counters: the last number and time of each stream that a transaction of the database appends to.

A stream's row is read for its first event and written once, before the commit or before a statement that looks at it.
So the events of many functions that share a commit take two statements together for what would take two for each.
"""

from dataclasses import dataclass
from typing import Any

import apsw

from moot.core.events import Event, Number
from moot.core.ids import StreamId
from moot.store import queries
from moot.store.errors import RowMissing
from moot.store.sqlite.statements import statements

sql = queries.beside(__file__)
_LAST, _KEEP = statements[sql.last.sqlite], statements[sql.keep.sqlite]


@dataclass(slots=True)
class Counter:
    """A stream's row, as it will be written."""

    seq: int
    at: int  # in microseconds, as stored
    reacted: int  # up to where every reaction has seen the stream


class Counters:
    """What was counted and not written yet. Forgotten with the transaction, and by whoever undoes a part of it."""

    def __init__(self) -> None:
        self._counters: dict[StreamId, Counter] = {}

    def next(self, cursor: apsw.Cursor, stream: StreamId, micros: int) -> Number:
        """What an event is to be kept under. Committed order is the order of numbers, without gaps, and times follow
        it, no two alike, also when the clock does not."""
        last = self._counters.get(stream) or self._read(cursor, stream)
        return Number(last.seq + 1, last.at + 1 if last.at >= micros else micros)

    def count(self, event: Event, number: Number) -> None:
        """It is kept under the next number."""
        counter = self._counters[event.stream]
        if event.is_quiet and counter.reacted == counter.seq:
            counter.reacted = number.seq
        counter.seq, counter.at = number.seq, number.at

    def write(self, cursor: apsw.Cursor) -> None:
        """For whoever reads or changes the rows themselves; what they say then is read again."""
        if counters := self._counters:
            rows = [(one.seq, one.at, one.reacted, stream) for stream, one in counters.items()]
            cursor.executemany(_KEEP.text, rows).fetchall()
            counters.clear()

    def forget(self) -> None:
        self._counters.clear()

    def _read(self, cursor: apsw.Cursor, stream: StreamId) -> Counter:
        found: list[Any] = cursor.execute(_LAST.text, (stream,)).fetchall()
        if not found:
            raise RowMissing(f"There is no stream {stream}.")
        read = self._counters[stream] = Counter(*found[0])
        return read
