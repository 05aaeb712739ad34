"""A feed of all streams reads what is new, and not over and over how far the others have come."""

from dataclasses import dataclass, field
from typing import Any

from moot.core.caller import SYSTEM
from moot.core.events import Cursor, Event
from moot.core.ids import StreamId
from moot.core.tx import Query, ReadTx, Tx
from moot.store import feed, streams
from moot.store.feed import StreamHead
from moot.store.store import Store
from tests.plans import plan_on_sqlite

MANY = [StreamId(f"in_{number:03}") for number in range(200)]


@dataclass
class Counted:
    """A snapshot, and how many heads of streams were read in it."""

    tx: ReadTx
    heads: list[str] = field(default_factory=list[str])

    def all(self, query: Query, into: type[Any], **values: Any) -> list[Any]:
        found = self.tx.all(query, into, **values)
        self.heads += [one.id for one in found if isinstance(one, StreamHead)]
        return found


async def begin(store: Store) -> None:
    def change(tx: Tx) -> None:
        for stream in MANY:
            streams.create(tx, stream, "default")
        for stream in MANY:
            tx.emit(Event(stream, "began", "x"))

    await store.write(change, caller=SYSTEM)


async def page(store: Store, after: Cursor, limit: int) -> tuple[list[str], Cursor, int]:
    """The streams of the events, where to read on, and how many heads were looked at."""

    def look(tx: ReadTx) -> tuple[list[str], Cursor, int]:
        counted = Counted(tx)
        found = feed.page(counted, after, limit)  # pyright: ignore[reportArgumentType]  # a page asks for rows only
        return [event.stream for event in found.events], found.cursor, len(counted.heads)

    return await store.read(look)


async def test_a_full_page_costs_the_same_wherever_it_is(store: Store) -> None:
    await begin(store)
    cursor: Cursor = {}
    seen: list[str] = []
    for _ in range(20):
        found, cursor, cost = await page(store, cursor, 10)
        seen += found
        assert cost <= 50
    assert seen == MANY
    assert cursor == await store.read(feed.end)
    assert (await page(store, cursor, 10))[:2] == ([], cursor)


async def test_news_before_the_place_where_reading_stopped_are_found(store: Store) -> None:
    await begin(store)
    _, cursor, _ = await page(store, {}, 1000)
    for stream in (MANY[150], MANY[0], MANY[-1]):
        await store.write(lambda tx, stream=stream: tx.emit(Event(stream, "again", "x")), caller=SYSTEM)
    found, cursor, _ = await page(store, cursor, 10)
    assert found == [MANY[-1], MANY[0], MANY[150]]
    assert (await page(store, cursor, 10))[0] == []


def test_heads_are_found_by_their_key() -> None:
    plan = plan_on_sqlite(feed.sql.heads_between)
    assert "SEARCH streams" in plan
    assert "TEMP B-TREE" not in plan
