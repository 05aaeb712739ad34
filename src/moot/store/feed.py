"""Reads committed events in order, from a cursor, and follows them as they come."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from moot.core.events import Cursor, Page, StoredEvent
from moot.core.ids import InstanceName, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.core.wakes import Signal
from moot.store import queries

sql = queries.beside(__file__)
T = TypeVar("T")
PAGE = 500
_HEADS = 50
_LAST = StreamId("\x7f")  # behind every id


class Source(Protocol):
    """What a feed needs of a store."""

    async def read(self, look: Callable[[ReadTx], T], /) -> T: ...

    def listen(self) -> AbstractContextManager[Signal]: ...


@record
class StreamHead:
    """How far a stream has come."""

    id: StreamId
    seq: int


@record
class NewsStream:
    """A stream with events that no reaction has seen, and the instance it belongs to."""

    id: StreamId
    instance: InstanceName


class Feed:
    """The events of one stream, or of all. A cursor names the last number read in each stream."""

    def __init__(self, source: Source, stream: StreamId | None = None) -> None:
        self._source = source
        self._stream = stream

    async def page(self, after: Cursor, limit: int = PAGE) -> Page:
        return await self._source.read(lambda tx: page(tx, after, limit, self._stream))

    async def follow(self, after: Cursor) -> AsyncIterator[Page]:
        """Every page from the cursor on, for ever; only pages with news."""
        cursor = after
        with self._source.listen() as signal:
            while True:
                signal.clear()
                found = await self.page(cursor)
                if found.events:
                    cursor = found.cursor
                    yield found
                else:
                    await signal.wait()


def page(tx: ReadTx, after: Cursor, limit: int, stream: StreamId | None = None) -> Page:
    """Up to `limit` events behind the cursor, whole streams one after the other."""
    events: list[StoredEvent] = []
    cursor = dict(after)
    for head in _heads_onward(tx, after) if stream is None else _heads(tx, stream):
        if head.seq <= cursor.get(head.id, 0):
            continue
        found = events_after(tx, head.id, cursor.get(head.id, 0), limit - len(events))
        events += found
        cursor[head.id] = found[-1].seq
        if len(events) >= limit:
            break
    return Page(tuple(events), cursor)


def _heads_onward(tx: ReadTx, after: Cursor) -> Iterator[StreamHead]:
    """From the stream where reading stopped to the last, then those before. A page that is full on the way has not
    looked at all the streams that were read to their end."""
    here = max(after, default=StreamId(""))
    yield from _heads_between(tx, here, _LAST)
    yield from _heads_between(tx, StreamId(""), here)


def _heads_between(tx: ReadTx, first: StreamId, end: StreamId) -> Iterator[StreamHead]:
    """A few at a time, as they are wanted."""
    while found := tx.all(sql.heads_between, StreamHead, first=first, end=end, limit=_HEADS):
        yield from found
        if len(found) < _HEADS:
            return
        first = StreamId(f"{found[-1].id}\x01")  # the least that is greater: there are no NULs in ids


def events_after(tx: ReadTx, stream: StreamId, seq: int, limit: int) -> list[StoredEvent]:
    return tx.all(sql.events_after, StoredEvent, stream=stream, seq=seq, limit=limit)


def end(tx: ReadTx, stream: StreamId | None = None) -> Cursor:
    """A cursor behind everything committed so far."""
    return {head.id: head.seq for head in _heads(tx, stream)}


def with_news(tx: ReadTx, limit: int) -> list[NewsStream]:
    """Streams with events that nobody has reacted to yet."""
    return tx.all(sql.with_news, NewsStream, limit=limit)


def has_news(tx: ReadTx, stream: StreamId) -> bool:
    """Whether nobody has reacted yet to some event of this stream."""
    return tx.maybe(sql.has_news, int, stream=stream) is not None


def news(tx: ReadTx, stream: StreamId, limit: int) -> list[StoredEvent]:
    """A stream's first events that nobody has reacted to yet."""
    return tx.all(sql.news, StoredEvent, stream=stream, limit=limit)


def _heads(tx: ReadTx, stream: StreamId | None) -> list[StreamHead]:
    if stream is None:
        return tx.all(sql.heads, StreamHead)
    return tx.all(sql.head, StreamHead, stream=stream)
