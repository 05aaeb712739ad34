"""What every store promises, on both databases."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic, thread_time
from typing import cast

import psycopg
import pytest

from moot.core.caller import SYSTEM, Caller
from moot.core.errors import MootError
from moot.core.events import Event, Page
from moot.core.ids import InstanceName, StreamId
from moot.core.json import Json
from moot.core.tx import Query, ReadTx, Tx
from moot.store import feed, queries, streams
from moot.store.errors import RowMissing, StoreClosed, StoreUnavailable, TransactionTooSlow
from moot.store.store import Store
from moot.testing.clock import START, ManualClock

RUN = StreamId("wf_a")
OTHER = StreamId("wf_b")
ANN = Caller(name="ann", role="member", instance=InstanceName("default"))
DEADLINE = 20.0


def statement(text: str) -> Query:
    return Query("test", text, queries.for_psycopg(text))


COUNT = statement("select count(*) from instances")
ADD = statement("insert into instances (name, stream, created_at) values (:name, :stream, :now)")
NAMES = statement("select name from instances order by name")


class Refused(MootError):
    """A domain function changes its mind."""


def add(tx: Tx, name: str) -> None:
    tx.run(ADD, name=name, stream=RUN, now=tx.now)


def names(tx: ReadTx) -> list[str]:
    return tx.all(NAMES, str)


def said(text: str, stream: StreamId = RUN) -> Callable[[Tx], int]:
    return lambda tx: tx.emit(Event(stream, "said", "ann", {"text": text})).seq


async def begin(store: Store, *ids: StreamId) -> None:
    def create(tx: Tx) -> None:
        for id in ids:
            streams.create(tx, id, "default")

    await store.write(create, caller=SYSTEM)


async def next_page(pages: AsyncIterator[Page]) -> Page:
    async with asyncio.timeout(DEADLINE):
        return await anext(pages)


async def test_what_a_write_returned_is_there_for_others(store: Store, neighbour: Store) -> None:
    assert await store.write(lambda tx: add(tx, "one") or "done", caller=ANN) == "done"
    assert await neighbour.read(names) == ["one"]


async def test_an_error_undoes_its_own_function_only(store: Store) -> None:
    def fail(tx: Tx) -> None:
        add(tx, "lost")
        raise Refused("no")

    outcomes = await asyncio.gather(
        store.write(lambda tx: add(tx, "first"), caller=ANN),
        store.write(fail, caller=ANN),
        store.write(lambda tx: add(tx, "last"), caller=ANN),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), Refused, type(None)]
    assert await store.read(names) == ["first", "last"]


async def test_a_refused_statement_undoes_its_function_and_the_store_goes_on(store: Store) -> None:
    def add_twice(tx: Tx) -> None:
        add(tx, "same")
        add(tx, "same")

    with pytest.raises(Exception, match=r"(?i)unique"):
        await store.write(add_twice, caller=ANN)
    await store.write(lambda tx: add(tx, "next"), caller=ANN)
    assert await store.read(names) == ["next"]


async def test_a_function_that_reads_sees_what_it_wrote(store: Store) -> None:
    assert await store.write(lambda tx: add(tx, "mine") or tx.one(COUNT, int), caller=ANN) == 1


async def test_a_read_sees_one_snapshot(store: Store, neighbour: Store) -> None:
    """A commit that happens in the middle of a read stays out of it."""

    def look_twice(tx: ReadTx) -> tuple[int, int]:
        before = tx.one(COUNT, int)
        # Not awaited: on SQLite this function runs on the thread of the event loop.
        elsewhere.submit(asyncio.run, add_one()).result(DEADLINE)
        return before, tx.one(COUNT, int)

    async def add_one() -> None:
        await neighbour.write(lambda tx: add(tx, "new"), caller=ANN)

    with ThreadPoolExecutor(1) as elsewhere:
        assert await store.read(look_twice) == (0, 0)
    assert await store.read(lambda tx: tx.one(COUNT, int)) == 1


async def test_a_read_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises((psycopg.errors.ReadOnlySqlTransaction, StoreUnavailable)):
        await store.read(lambda tx: add(cast(Tx, tx), "smuggled"))
    assert await store.read(names) == []
    await store.write(lambda tx: add(tx, "proper"), caller=ANN)
    assert await store.read(names) == ["proper"]


async def test_many_writers_of_one_row_all_count(store: Store, neighbour: Store) -> None:
    count = statement("select stream from instances where name = 'counter'")
    move = statement("update instances set stream = :count where name = 'counter'")
    zero = statement("insert into instances (name, stream, created_at) values ('counter', '0', :now)")
    await store.write(lambda tx: tx.run(zero, now=tx.now), caller=ANN)

    def increment(tx: Tx) -> None:
        tx.lock("instances", "counter")
        tx.run(move, count=str(int(tx.one(count, str)) + 1))

    writes = [place.write(increment, caller=ANN) for place in (store, neighbour) for _ in range(40)]
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*writes)
    assert await store.read(lambda tx: tx.one(count, str)) == "80"


async def test_numbers_have_no_gaps_when_writers_race_and_some_fail(store: Store, neighbour: Store) -> None:
    await begin(store, RUN)

    def fail(tx: Tx) -> int:
        tx.emit(Event(RUN, "said", "ann", {"text": "never"}))
        raise Refused("no")

    writes = [
        place.write(fail if turn % 3 == 0 else said(str(turn)), caller=ANN)
        for turn in range(60)
        for place in (store, neighbour)
    ]
    async with asyncio.timeout(DEADLINE):
        answers = await asyncio.gather(*writes, return_exceptions=True)
    numbers = sorted(answer for answer in answers if isinstance(answer, int))
    assert numbers == list(range(1, 81))
    assert sum(isinstance(answer, Refused) for answer in answers) == 40
    page = await store.feed(RUN).page({}, 1000)
    assert [event.seq for event in page.events] == numbers
    assert "never" not in [event.data["text"] for event in page.events]


async def test_numbers_have_no_gaps_when_writers_take_turns(
    store: Store, neighbour: Store, caplog: pytest.LogCaptureFixture
) -> None:
    await begin(store, RUN)
    places = [store, store, neighbour, neighbour, neighbour, store] * 4
    assert [await one.write(said("word"), caller=ANN) for one in places] == list(range(1, 25))
    assert caplog.text == "", "and nobody has to try again"


async def test_a_reader_never_sees_a_number_before_a_smaller_one(store: Store, neighbour: Store) -> None:
    """Committed order is the order of numbers: whoever reads on from a cursor misses nothing."""
    await begin(store, RUN)
    seen: list[int] = []

    async def read_all() -> None:
        async for page in neighbour.feed(RUN).follow({}):
            seen.extend(event.seq for event in page.events)
            if len(seen) >= 60:
                return

    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(read_all(), *(store.write(said(str(turn)), caller=ANN) for turn in range(60)))
    assert seen == list(range(1, 61))


async def test_an_event_keeps_what_was_said_by_whom_and_when(store: Store, clock: ManualClock) -> None:
    await begin(store, RUN)
    clock.advance(60)
    assert await store.write(said("hello"), caller=ANN) == 1
    (event,) = (await store.feed().page({})).events
    assert (event.stream, event.seq, event.kind, event.subject) == (RUN, 1, "said", "ann")
    assert event.data == {"text": "hello"}
    assert (event.actor, event.at) == ("ann", START + timedelta(seconds=60))


async def test_times_in_a_stream_only_go_on(store: Store, clock: ManualClock) -> None:
    """A writer whose clock stands still, or is behind, makes no event that is as old as the one before, or older."""
    await begin(store, RUN)
    for text in ("first", "at the same moment", "behind"):
        await store.write(said(text), caller=ANN)
    events = (await store.feed().page({})).events
    assert [event.at - START for event in events] == [timedelta(microseconds=number) for number in range(3)]


async def test_whoever_looks_at_a_stream_sees_what_was_appended_before(store: Store) -> None:
    """In the same function, in one that shares its commit, and when the look itself changes the stream."""
    seen: list[list[str]] = []

    def look(tx: Tx) -> int:
        tx.emit(Event(RUN, "said", "ann", {}))
        seen.append(tx.all(statement("select id || ' ' || seq from streams order by id"), str))
        streams.reacted(tx, RUN, 1)
        return tx.emit(Event(RUN, "said", "ann", {})).seq

    await begin(store, RUN)
    assert sorted(await asyncio.gather(store.write(look, caller=ANN), store.write(look, caller=ANN))) == [2, 4]
    assert sorted(seen) == [[f"{RUN} 1"], [f"{RUN} 3"]]
    assert (await store.read(lambda tx: tx.one(statement("select reacted from streams"), int))) == 1


async def test_those_who_share_a_commit_with_a_failure_leave_no_gap(store: Store) -> None:
    def fails(tx: Tx) -> None:
        tx.emit(Event(RUN, "said", "ann", {"text": "lost"}))
        raise Refused("no")

    await begin(store, OTHER, RUN)
    changes = [said("one"), fails, said("two"), fails, said("three")]
    numbers = await asyncio.gather(*(store.write(one, caller=ANN) for one in changes), return_exceptions=True)
    assert sorted(one for one in numbers if isinstance(one, int)) == [1, 2, 3]
    events = (await store.feed(RUN).page({})).events
    assert [event.seq for event in events] == [1, 2, 3]
    assert sorted(str(event.data["text"]) for event in events) == ["one", "three", "two"]
    assert await store.write(said("four"), caller=ANN) == 4


async def test_the_number_of_an_event_that_could_not_be_kept_is_free(store: Store) -> None:
    def cannot(tx: Tx) -> None:
        with contextlib.suppress(MootError):
            tx.emit(Event(RUN, "said", "ann", {"text": float("nan")}))

    await begin(store, RUN)
    await store.write(cannot, caller=ANN)
    assert await store.write(said("first"), caller=ANN) == 1


async def test_an_event_needs_its_stream(store: Store) -> None:
    with pytest.raises(RowMissing):
        await store.write(said("lost"), caller=ANN)


async def test_an_announced_event_needs_its_stream_and_takes_the_rest_with_it(store: Store) -> None:
    def announce(tx: Tx) -> None:
        add(tx, "lost")
        tx.announce(Event(RUN, "said", "ann", {"text": "lost"}))

    with pytest.raises(RowMissing):
        await store.write(announce, caller=ANN)
    assert await store.read(names) == []


async def test_a_feed_is_read_in_pages_of_whole_order(store: Store) -> None:
    await begin(store, OTHER, RUN)
    for turn in range(5):
        await store.write(said(str(turn)), caller=ANN)
        await store.write(said(str(turn), OTHER), caller=ANN)
    everything = store.feed()
    seen: list[tuple[StreamId, int]] = []
    page = await everything.page({}, 3)
    while page.events:
        assert len(page.events) <= 3
        seen += [(event.stream, event.seq) for event in page.events]
        page = await everything.page(page.cursor, 3)
    assert seen == [(RUN, seq) for seq in range(1, 6)] + [(OTHER, seq) for seq in range(1, 6)]
    assert page.cursor == {RUN: 5, OTHER: 5} == await store.read(feed.end)


async def test_a_feed_of_one_stream_leaves_the_others_out(store: Store) -> None:
    await begin(store, RUN, OTHER)
    await store.write(said("mine"), caller=ANN)
    await store.write(said("theirs", OTHER), caller=ANN)
    page = await store.feed(RUN).page({})
    assert [event.data["text"] for event in page.events] == ["mine"]
    assert page.cursor == {RUN: 1}


async def test_following_brings_each_event_once_and_wakes_for_new_ones(store: Store) -> None:
    await begin(store, RUN)
    await store.write(said("before"), caller=ANN)
    pages = store.feed(RUN).follow({})
    assert [event.data["text"] for event in (await next_page(pages)).events] == ["before"]
    waiting = asyncio.ensure_future(next_page(pages))
    await store.write(said("after"), caller=ANN)
    assert [event.data["text"] for event in (await waiting).events] == ["after"]
    await cast(AsyncGenerator[Page], pages).aclose()


async def test_a_commit_elsewhere_wakes_who_follows(store: Store, neighbour: Store) -> None:
    """Long before any backstop: ten wakes one after the other, where one backstop takes a second or more."""
    await begin(store, RUN)
    pages = store.feed(RUN).follow({})
    await neighbour.write(said("0"), caller=ANN)
    assert len((await next_page(pages)).events) == 1
    started = monotonic()
    for turn in range(1, 11):
        waiting = asyncio.ensure_future(next_page(pages))
        await neighbour.write(said(str(turn)), caller=ANN)
        assert [event.seq for event in (await waiting).events] == [turn + 1]
    assert monotonic() - started < 5.0
    await cast(AsyncGenerator[Page], pages).aclose()


async def test_a_wake_without_an_event_rings_too(store: Store, neighbour: Store) -> None:
    """Several times: the first ring may be the one that greets a new listener."""
    started = monotonic()
    with neighbour.listen() as there, store.listen() as here:
        for _ in range(4):
            here.clear()
            there.clear()
            await store.write(lambda tx: tx.wake(), caller=ANN)
            assert await here.wait(DEADLINE)
            assert await there.wait(DEADLINE)
    assert monotonic() - started < 5.0


async def test_new_ids_carry_their_prefix_and_sort_by_age(store: Store, clock: ManualClock) -> None:
    made: list[str] = []
    for _ in range(20):
        made.append(await store.write(lambda tx: tx.new_id("ag"), caller=ANN))
        clock.advance(0.001)
    assert made == sorted(made)
    assert len(set(made)) == 20
    assert all(id.startswith("ag_") for id in made)
    assert len({await store.write(lambda tx: tx.new_id("ag"), caller=ANN) for _ in range(5)}) == 5


async def test_now_is_one_moment_and_comes_from_the_clock(store: Store, clock: ManualClock) -> None:
    def two_moments(tx: ReadTx) -> tuple[datetime, datetime]:
        first = tx.now
        clock.advance(1)
        return first, tx.now

    assert await store.write(two_moments, caller=ANN) == (START, START)
    assert await store.read(two_moments) == (START + timedelta(seconds=1),) * 2


@dataclass(frozen=True, slots=True)
class Everything:
    """One field of every kind that rows can hold."""

    flag: bool
    at: datetime | None
    gone_at: datetime | None
    names: tuple[str, ...]
    extra: dict[str, Json]
    count: int
    share: float
    raw: bytes
    text: str


async def test_values_come_back_as_they_went_in(store: Store) -> None:
    moment = datetime(2026, 7, 1, 12, 30, 0, 123457, tzinfo=UTC)
    echo = statement(
        "select cast(:count as bigint) as count, :raw as raw, cast(:text as text) as text,"
        " cast(:share as double precision) as share, cast(:flag as bigint) as flag, cast(:at as bigint) as at,"
        " cast(null as bigint) as gone_at, cast(:names as text) as names, cast(:extra as text) as extra"
    )
    text = "zwölf 🦔 % :name 'quoted'"
    expected = Everything(True, moment, None, ("a", "b"), {"k": [1, None]}, 2**62, 0.5, b"\x00\xff", text)

    def look(tx: ReadTx) -> Everything:
        return tx.one(
            echo,
            Everything,
            flag=expected.flag,
            at=expected.at,
            names='["a","b"]',
            extra='{"k":[1,null]}',
            count=expected.count,
            share=expected.share,
            raw=expected.raw,
            text=expected.text,
        )

    assert await store.read(look) == expected


async def test_sums_and_averages_are_plain_numbers(store: Store) -> None:
    await begin(store, RUN, OTHER)
    await store.write(said("one"), caller=ANN)
    assert repr(await store.read(lambda tx: tx.one(statement("select sum(seq) from streams"), int))) == "1"
    assert repr(await store.read(lambda tx: tx.one(statement("select avg(seq) from streams"), float))) == "0.5"


async def test_text_sorts_by_code_point(store: Store) -> None:
    given = ["b", "_a", "B", "a-b", "ab", "é", "z"]
    for name in given:
        await store.write(lambda tx, name=name: add(tx, name), caller=ANN)
    assert await store.read(names) == sorted(given)


async def test_one_needs_a_row_and_maybe_does_not(store: Store) -> None:
    missing = statement("select name from instances where name = :name")
    assert await store.read(lambda tx: tx.maybe(missing, str, name="nobody")) is None
    with pytest.raises(RowMissing):
        await store.read(lambda tx: tx.one(missing, str, name="nobody"))


async def test_a_value_may_have_any_name(store: Store) -> None:
    named = statement("select name from instances where name in (:self, :query, :into)")
    await store.write(lambda tx: add(tx, "a"), caller=SYSTEM)
    assert await store.read(lambda tx: tx.one(named, str, self="x", query="a", into="y")) == "a"


async def test_run_and_many_count_the_rows_they_touched(store: Store) -> None:
    rename = statement("update instances set stream = :stream")

    def work(tx: Tx) -> tuple[int, int, int]:
        added = tx.many(ADD, ({"name": name, "stream": RUN, "now": tx.now} for name in "abc"))
        return added, tx.many(ADD, []), tx.run(rename, stream=OTHER)

    assert await store.write(work, caller=ANN) == (3, 0, 3)
    assert await store.read(names) == ["a", "b", "c"]


async def test_what_is_put_is_there_for_the_next_statement(store: Store) -> None:
    def work(tx: Tx) -> list[str]:
        tx.put(ADD, name="a", stream=RUN, now=tx.now)
        return names(tx)

    assert await store.write(work, caller=ANN) == ["a"]


async def test_what_is_put_last_and_refused_undoes_its_function(store: Store) -> None:
    """On PostgreSQL it is on its way together with COMMIT, which then must not happen."""

    def work(tx: Tx) -> None:
        for _ in range(2):
            tx.put(ADD, name="same", stream=RUN, now=tx.now)

    with pytest.raises(Exception, match=r"(?i)unique"):
        await store.write(work, caller=ANN)
    await store.write(lambda tx: add(tx, "next"), caller=ANN)
    assert await store.read(names) == ["next"]


@pytest.mark.parametrize("writes", [True, False])
async def test_a_function_that_computes_too_long_is_refused(store: Store, writes: bool) -> None:
    def compute(tx: Tx) -> None:
        if writes:
            add(tx, "slow")
        burn(0.3)

    with pytest.raises(TransactionTooSlow):
        await store.write(compute, caller=ANN)
    assert await store.read(names) == []


@pytest.mark.parametrize("writes", [True, False])
async def test_what_was_slow_only_once_is_forgiven(store: Store, writes: bool) -> None:
    hiccups = [0.3]

    def compute(tx: Tx) -> str:
        if writes:
            add(tx, "slow")
        burn(hiccups.pop() if hiccups else 0)
        return "done"

    assert await store.write(compute, caller=ANN) == "done"
    assert await store.read(names) == ["slow"] * writes
    assert hiccups == []


def burn(seconds: float) -> None:
    """Use the CPU this long."""
    until = thread_time() + seconds
    while thread_time() < until:
        pass


async def test_a_cancelled_caller_leaves_the_store_working(store: Store) -> None:
    waiting = asyncio.ensure_future(store.write(lambda tx: add(tx, "perhaps"), caller=ANN))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await store.write(lambda tx: add(tx, "surely"), caller=ANN)
    assert "surely" in await store.read(names)


async def test_a_closed_store_has_committed_what_waited_and_takes_no_more(
    open_store: Callable[[], Store], neighbour: Store
) -> None:
    store = open_store()
    async with asyncio.timeout(DEADLINE):
        waiting = [asyncio.ensure_future(store.write(lambda tx, n=n: add(tx, n), caller=ANN)) for n in "abc"]
        await asyncio.sleep(0)  # let them get into the queue
        await store.close()
        await asyncio.gather(*waiting)
    assert await neighbour.read(names) == ["a", "b", "c"]
    with pytest.raises(StoreClosed):
        await store.write(lambda tx: add(tx, "d"), caller=ANN)
