"""The writer thread: what functions may do to it, what callers are told, and that nobody waits for ever."""

import asyncio
import logging
import shutil
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.tx import Query, Tx
from moot.store import sqlite, streams
from moot.store.errors import StoreBusy, StoreClosed, StoreNotFound, StoreUnavailable
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.faults import TransactionLost
from moot.store.sqlite.tx import SqliteTx
from moot.store.sqlite.work import Work
from moot.store.sqlite.writer import Writer
from moot.store.store import Limits
from tests.store.sqlite.others import DEADLINE, hold_database, hold_turn, other

RUN = StreamId("wf_a")
ADD = Query("add", "insert into instances (name, stream, created_at) values (:name, 's', 0)", "")
ADD_TWO = Query(
    "add_two", "insert into instances (name, stream, created_at) values ('x', 's', 0), ('y', 's', 0) returning name", ""
)
NAMES = Query("names", "select name from instances order by name", "")
SAID = Query("said", "select subject from events order by seq", "")
SOON = Limits(queued_seconds=0.2, at_once_seconds=0)


@dataclass(frozen=True, slots=True)
class Unlike:
    """A record that no statement here gives."""

    colour: str


def adds(name: str) -> Callable[[Tx], str]:
    def change(tx: Tx) -> str:
        tx.run(ADD, name=name)
        return name

    return change


async def names(store: SqliteStore) -> list[str]:
    return await store.read(lambda tx: tx.all(NAMES, str))


class Gate:
    """A function that holds the writer until it is let go."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._entered = asyncio.Event()
        self._open = threading.Event()

    def __call__(self, tx: Tx) -> str:
        self._loop.call_soon_threadsafe(self._entered.set)
        assert self._open.wait(DEADLINE)
        return "through"

    async def entered(self) -> None:
        async with asyncio.timeout(DEADLINE):
            await self._entered.wait()

    def open(self) -> None:
        self._open.set()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = sqlite.open_file(
        tmp_path / "moot.db", create=True, limits=Limits(batch_seconds=DEADLINE, at_once_seconds=0)
    )
    yield store
    await store.close()


@pytest.fixture
async def hasty(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    """A store whose callers wait for a moment only."""
    store = sqlite.open_file(tmp_path / "moot.db", create=True, limits=SOON)
    yield store
    await store.close()


@pytest.fixture
async def single(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    """A store that commits every function alone."""
    store = sqlite.open_file(tmp_path / "moot.db", create=True, limits=Limits(batch_functions=1, at_once_seconds=0))
    yield store
    await store.close()


def raises(error: BaseException) -> Callable[[Tx], None]:
    def change(tx: Tx) -> None:
        tx.run(ADD, name="bad")
        raise error

    return change


def recurses(tx: Tx) -> None:
    tx.run(ADD, name=tx.new_id("bad"))
    recurses(tx)


async def between(store: SqliteStore, change: Callable[[Tx], object]) -> BaseException:
    """The error of a function that runs in one batch with two good ones, which must come through."""
    gate = Gate()
    async with asyncio.timeout(DEADLINE):
        holding = asyncio.ensure_future(store.write(gate, caller=SYSTEM))
        await gate.entered()
        changes = (adds("first"), change, adds("last"))
        tasks = [asyncio.ensure_future(store.write(each, caller=SYSTEM)) for each in changes]
        await asyncio.sleep(0)
        gate.open()
        await asyncio.wait((holding, *tasks))
    first, bad, last = (task.exception() or task.result() for task in tasks)
    assert (first, last) == ("first", "last")
    assert isinstance(bad, BaseException)
    assert await names(store) == ["first", "last"]
    return bad


@pytest.mark.parametrize(
    "error", [ValueError("mine"), MootError("mine"), MemoryError("mine"), apsw.ConstraintError("mine")]
)
async def test_an_error_of_a_function_is_its_own(store: SqliteStore, error: Exception) -> None:
    assert await between(store, raises(error)) is error


async def test_a_function_that_is_refused_before_it_writes_is_no_reason_to_run_the_others_again(
    store: SqliteStore,
) -> None:
    runs: list[str] = []

    def refused(tx: Tx) -> None:
        runs.append("refused")
        raise MootError("mine")

    assert isinstance(await between(store, refused), MootError)
    assert runs == ["refused"]


async def test_a_deadline_holds_on_a_second_loop_too(hasty: SqliteStore) -> None:
    async def first() -> None:
        await hasty.write(adds("first"), caller=SYSTEM)

    await asyncio.to_thread(lambda: asyncio.run(first()))
    gate = Gate()
    holding = asyncio.ensure_future(hasty.write(gate, caller=SYSTEM))
    await gate.entered()
    with pytest.raises(StoreBusy):
        async with asyncio.timeout(DEADLINE):
            await hasty.write(adds("late"), caller=SYSTEM)
    gate.open()
    await asyncio.wait((holding,))


async def test_endless_recursion_is_the_functions_own_error(store: SqliteStore) -> None:
    assert isinstance(await between(store, recurses), RecursionError)


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError(), StopIteration("mine")]
)
async def test_an_error_that_would_end_more_than_the_function_does_not(
    store: SqliteStore, error: BaseException
) -> None:
    answer = await between(store, raises(error))
    assert isinstance(answer, RuntimeError)
    assert repr(error) in str(answer)
    assert answer.__cause__ is error


async def test_a_half_read_statement_blocks_nobody(store: SqliteStore) -> None:
    # The error keeps its frames alive, and they the statement.
    answer = await between(store, lambda tx: tx.all(ADD_TWO, Unlike))
    assert isinstance(answer, TypeError)
    await store.write(adds("next"), caller=SYSTEM)
    assert await names(store) == ["first", "last", "next"]


async def test_no_memory_for_one_function_is_its_own(store: SqliteStore) -> None:
    big = Query(
        "big", "insert into instances (name, stream, created_at) values (hex(randomblob(20000000)), 's', 0)", ""
    )

    def starves(tx: Tx) -> None:
        before = apsw.hard_heap_limit(apsw.memory_used() + 1_000_000)
        try:
            tx.run(big)
        finally:
            apsw.hard_heap_limit(before)

    answer = await between(store, starves)
    assert isinstance(answer, StoreUnavailable)
    assert "nothing was written" in str(answer)


async def test_a_transaction_cannot_be_used_after_its_end(store: SqliteStore) -> None:
    kept: list[Tx] = []
    await store.write(kept.append, caller=SYSTEM)
    with pytest.raises(TransactionLost, match="add came after the end"):
        kept[0].run(ADD, name="late")
    with pytest.raises(TransactionLost):
        kept[0].many(ADD, [{"name": "late"}])


async def test_nothing_is_announced_after_the_end_of_a_transaction(store: SqliteStore) -> None:
    """Without this it would be kept at once, by itself, under a number that nobody counts."""
    kept: list[Tx] = []

    def begins(tx: Tx) -> None:
        streams.create(tx, RUN, "default")
        tx.emit(Event(RUN, "said", "ann", {}))
        kept.append(tx)

    await store.write(begins, caller=SYSTEM)
    with pytest.raises(TransactionLost, match="said came after the end"):
        kept[0].emit(Event(RUN, "said", "bob", {}))
    assert await store.write(lambda tx: tx.emit(Event(RUN, "said", "cat", {})).seq, caller=SYSTEM) == 2


def says(subject: str, error: Exception | None = None) -> Callable[[Tx], int]:
    def change(tx: Tx) -> int:
        number = tx.emit(Event(RUN, "said", subject, {})).seq
        if error is not None:
            raise error
        return number

    return change


@pytest.mark.parametrize("subject", ["bob", "\ud800"])
async def test_events_of_a_function_that_fails_are_gone_and_those_of_others_stay(
    store: SqliteStore, subject: str
) -> None:
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    gate = Gate()
    async with asyncio.timeout(DEADLINE):
        holding = asyncio.ensure_future(store.write(gate, caller=SYSTEM))
        await gate.entered()
        changes = (says("ann"), says(subject, ValueError("mine")), says("cat"))
        tasks = [asyncio.ensure_future(store.write(each, caller=SYSTEM)) for each in changes]
        await asyncio.sleep(0)
        gate.open()
        await asyncio.wait((holding, *tasks))
    first, bad, last = (task.exception() or task.result() for task in tasks)
    assert (first, last) == (1, 2)
    assert isinstance(bad, ValueError)
    assert await store.read(lambda tx: tx.all(SAID, str)) == ["ann", "cat"]


async def test_an_event_is_seen_by_whoever_looks_later_in_its_function(store: SqliteStore) -> None:
    def change(tx: Tx) -> list[str]:
        streams.create(tx, RUN, "default")
        tx.emit(Event(RUN, "said", "ann", {}))
        return tx.all(SAID, str)

    assert await store.write(change, caller=SYSTEM) == ["ann"]


async def test_a_cancelled_caller_leaves_the_writer_at_work(store: SqliteStore) -> None:
    gate = Gate()
    holding = asyncio.ensure_future(store.write(gate, caller=SYSTEM))
    await gate.entered()
    cancelled = asyncio.ensure_future(store.write(adds("cancelled"), caller=SYSTEM))
    await asyncio.sleep(0)
    cancelled.cancel()
    holding.cancel()
    gate.open()
    async with asyncio.timeout(DEADLINE):
        assert await store.write(adds("next"), caller=SYSTEM) == "next"
    assert (cancelled.cancelled(), holding.cancelled()) == (True, True)
    assert await names(store) == ["cancelled", "next"]


async def test_a_caller_whose_loop_has_ended_harms_nobody(store: SqliteStore) -> None:
    gate = Gate()

    def ask_and_leave() -> None:
        async def ask() -> None:
            asking = asyncio.ensure_future(store.write(gate, caller=SYSTEM))
            await asyncio.sleep(0)
            asking.cancel()

        asyncio.run(ask())

    await asyncio.to_thread(ask_and_leave)
    await gate.entered()
    waiting = asyncio.ensure_future(store.write(adds("next"), caller=SYSTEM))
    gate.open()
    async with asyncio.timeout(DEADLINE):
        assert await waiting == "next"


async def test_closing_commits_what_waits(single: SqliteStore, tmp_path: Path) -> None:
    gate = Gate()
    holding = asyncio.ensure_future(single.write(gate, caller=SYSTEM))
    await gate.entered()
    waiting = [asyncio.ensure_future(single.write(adds(f"{number}"), caller=SYSTEM)) for number in range(5)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(single.close())
    await asyncio.sleep(0)
    gate.open()
    async with asyncio.timeout(DEADLINE):
        await closing
        assert await holding == "through"
        assert [await each for each in waiting] == ["0", "1", "2", "3", "4"]
    again = sqlite.open_file(tmp_path / "moot.db", create=False)
    assert await names(again) == ["0", "1", "2", "3", "4"]
    await again.close()


async def test_a_closed_store_refuses(store: SqliteStore) -> None:
    await store.close()
    await store.close()
    with pytest.raises(StoreClosed):
        await store.write(adds("late"), caller=SYSTEM)
    with pytest.raises(StoreClosed):
        await names(store)
    with pytest.raises(StoreClosed), store.listen():
        pass


async def test_closing_ends_those_who_follow(store: SqliteStore) -> None:
    following = asyncio.ensure_future(anext(aiter(store.feed().follow({}))))
    await asyncio.sleep(0)
    await store.close()
    with pytest.raises(StoreClosed):
        async with asyncio.timeout(DEADLINE):
            await following


@pytest.mark.parametrize("program", [hold_database, hold_turn])
async def test_what_waited_too_long_was_not_done(
    hasty: SqliteStore, tmp_path: Path, program: Callable[[str], None]
) -> None:
    with other(program, tmp_path / "moot.db") as holder:
        while holder.hears() != "held":
            continue
        late = [asyncio.ensure_future(hasty.write(adds(name), caller=SYSTEM)) for name in "ab"]
        async with asyncio.timeout(DEADLINE):
            answers = await asyncio.gather(*late, return_exceptions=True)
        assert [type(answer) for answer in answers] == [StoreBusy, StoreBusy]
        assert answers[0] is not answers[1]
        assert await names(hasty) == []
        holder.end()
    async with asyncio.timeout(DEADLINE):
        assert await retried(hasty, adds("next")) == "next"
    assert await names(hasty) == ["next"]


async def retried(store: SqliteStore, change: Callable[[Tx], str]) -> str:
    """Until the writer thread, which may still wait in SQLite for the lock, has it."""
    while True:
        try:
            return await store.write(change, caller=SYSTEM)
        except StoreBusy:
            continue


async def test_what_waits_is_done_when_the_lock_is_free_before_its_deadline(store: SqliteStore, tmp_path: Path) -> None:
    with other(hold_database, tmp_path / "moot.db") as holder:
        assert holder.hears() == "held"
        waiting = asyncio.ensure_future(store.write(adds("a"), caller=SYSTEM))
        await asyncio.sleep(0)
        holder.end()
        async with asyncio.timeout(DEADLINE):
            assert await waiting == "a"


async def test_a_busy_database_fails_nobody_before_the_deadline(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite.files.BUSY_MILLISECONDS", 1)
    impatient = sqlite.open_file(tmp_path / "moot.db", create=False)
    with other(hold_database, tmp_path / "moot.db") as holder:
        assert holder.hears() == "held"
        waiting = asyncio.ensure_future(impatient.write(adds("a"), caller=SYSTEM))
        done, _ = await asyncio.wait((waiting,), timeout=0.1)  # many times SQLite's patience
        assert not done
        holder.end()
        async with asyncio.timeout(DEADLINE):
            assert await waiting == "a"
    await impatient.close()


async def test_closing_does_not_wait_for_a_lock_for_ever(
    hasty: SqliteStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with other(hold_turn, tmp_path / "moot.db") as holder:
        assert [holder.hears(), holder.hears()] == ["drawn", "held"]
        waiting = asyncio.ensure_future(hasty.write(adds("a"), caller=SYSTEM))
        await asyncio.sleep(0)
        async with asyncio.timeout(DEADLINE):
            await hasty.close()
            with pytest.raises(StoreBusy):
                await waiting
        assert "left behind" in caplog.text


async def test_a_function_that_was_taken_is_answered_after_its_deadline(hasty: SqliteStore) -> None:
    gate = Gate()
    holding = asyncio.ensure_future(hasty.write(gate, caller=SYSTEM))
    await gate.entered()
    done, _ = await asyncio.wait((holding,), timeout=1.5 * SOON.queued_seconds)
    assert not done
    gate.open()
    async with asyncio.timeout(DEADLINE):
        assert await holding == "through"


async def test_a_writer_that_hangs_leaves_nobody_waiting(hasty: SqliteStore) -> None:
    gate = Gate()
    holding = asyncio.ensure_future(hasty.write(gate, caller=SYSTEM))
    await gate.entered()
    waiting = asyncio.ensure_future(hasty.write(adds("a"), caller=SYSTEM))
    async with asyncio.timeout(DEADLINE):
        with pytest.raises(StoreBusy, match="nothing was written"):
            await waiting
        with pytest.raises(StoreUnavailable, match="is not known"):
            await holding
    gate.open()
    assert await retried(hasty, adds("b")) == "b"
    assert await names(hasty) == ["b"]


async def test_a_store_migrated_by_another_process_is_left_alone(store: SqliteStore, tmp_path: Path) -> None:
    await store.write(adds("before"), caller=SYSTEM)
    newer = apsw.Connection(str(tmp_path / "moot.db"))
    newer.pragma("user_version", 99)
    for name in "ab":
        with pytest.raises(StoreUnavailable, match="migrated to version 99"):
            await store.write(adds(name), caller=SYSTEM)
    assert await names(store) == ["before"]
    newer.close()


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_a_file_that_is_gone_takes_no_writes(single: SqliteStore, tmp_path: Path, is_replaced: bool) -> None:
    gate = Gate()
    holding = asyncio.ensure_future(single.write(gate, caller=SYSTEM))
    await gate.entered()
    waiting = [asyncio.ensure_future(single.write(adds(name), caller=SYSTEM)) for name in "ab"]
    await asyncio.sleep(0)
    for file in tmp_path.glob("moot.db*"):
        file.rename(file.with_name(f"moved-{file.name}"))
    if is_replaced:
        await sqlite.open_file(tmp_path / "moot.db", create=True).close()
    gate.open()
    async with asyncio.timeout(DEADLINE):
        await asyncio.wait((holding, *waiting))
    errors = [task.exception() for task in waiting]
    assert [type(error) for error in errors] == [StoreNotFound, StoreNotFound]
    assert errors[0] is not errors[1], "a traceback grows with every place where its error is raised"
    assert (tmp_path / "moot.db").exists() == is_replaced


async def test_a_folder_that_is_gone_is_told_as_such_every_time(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    store = sqlite.open_file(folder / "moot.db", create=True)
    await store.write(adds("a"), caller=SYSTEM)
    shutil.rmtree(folder)
    for name in "bcd":  # the second opens the file anew
        with pytest.raises(StoreNotFound, match="removed or replaced"):
            await store.write(adds(name), caller=SYSTEM)
    await store.close()


async def test_a_read_that_fails_because_the_file_is_gone_says_so(tmp_path: Path) -> None:
    def look(tx: object) -> None:
        shutil.rmtree(folder)
        raise apsw.CantOpenError("unable to open database file")

    folder = tmp_path / "gone"
    store = sqlite.open_file(folder / "moot.db", create=True)
    with pytest.raises(StoreNotFound, match="removed or replaced"):
        await store.read(look)
    await store.close()


async def test_a_wake_up_that_fails_fails_no_commit(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: object) -> None:
        raise ZeroDivisionError("the bell is broken")

    monkeypatch.setattr("moot.store.sqlite.nudge.Nudges.send", broken)
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    for number in (1, 2):
        seq = await store.write(lambda tx: tx.emit(Event(RUN, "said", "ann", {})).seq, caller=SYSTEM)
        assert seq == number
    assert "the bell is broken" in caplog.text


async def test_an_error_nobody_foresaw_is_answered_and_the_writer_goes_on(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [MemoryError("no room for a cursor")]
    take = Writer._take  # pyright: ignore[reportPrivateUsage]

    def fails_once(writer: Writer) -> Work | None:
        if faults:
            raise faults.pop()
        return take(writer)

    monkeypatch.setattr(Writer, "_take", fails_once)
    with pytest.raises(MemoryError):
        async with asyncio.timeout(DEADLINE):
            await store.write(adds("a"), caller=SYSTEM)
    async with asyncio.timeout(DEADLINE):
        assert await store.write(adds("b"), caller=SYSTEM) == "b"
    assert await names(store) == ["b"]


async def test_a_reading_function_cannot_write(store: SqliteStore) -> None:
    def writes(tx: object) -> None:
        assert isinstance(tx, SqliteTx)
        tx.run(ADD, name="sneaky")

    with pytest.raises(StoreUnavailable, match="readonly"):
        await store.read(writes)
    assert await names(store) == []


async def test_a_reading_function_that_fails_leaves_no_snapshot_open(store: SqliteStore) -> None:
    def fails(tx: object) -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        await store.read(fails)
    await store.write(adds("new"), caller=SYSTEM)
    assert await names(store) == ["new"]


async def test_the_log_does_not_grow_without_end(store: SqliteStore, tmp_path: Path) -> None:
    body = "x" * 40_000
    for number in range(300):  # 12 MB, three times the size at which the log is moved into the file
        await store.write(adds(f"{number}{body}"), caller=SYSTEM)
    assert (tmp_path / "moot.db-wal").stat().st_size < 8_000_000
    assert (tmp_path / "moot.db").stat().st_size > 8_000_000


def log_pages(connection: apsw.Connection) -> tuple[int, int]:
    """How long the log is, and how much of it is in the file."""
    return connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)


async def test_a_reader_that_does_not_end_makes_the_log_longer_and_nobody_wait(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite.log._LONG_PAGES", 20)
    monkeypatch.setattr("moot.store.sqlite.log._READERS_MILLISECONDS", 200)
    store._writer._log._too_long_pages = 60  # pyright: ignore[reportPrivateUsage]
    reader = apsw.Connection(str(tmp_path / "moot.db"))
    reader.execute("begin; select count(*) from instances")
    async with asyncio.timeout(DEADLINE):
        for number in range(150):
            await store.write(adds(f"{number}"), caller=SYSTEM)
    reader.execute("rollback")
    assert log_pages(reader)[0] > 150
    for number in range(150, 153):
        await store.write(adds(f"{number}"), caller=SYSTEM)
    assert log_pages(reader)[0] < 20, "the log did not start over when the reader had gone"
    reader.close()


async def test_a_log_that_is_too_long_waits_for_its_readers(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite.log._LONG_PAGES", 1)
    monkeypatch.setattr("moot.store.sqlite.log._READERS_MILLISECONDS", int(DEADLINE * 1000))
    store._writer._log._too_long_pages = 1  # pyright: ignore[reportPrivateUsage]
    reader = apsw.Connection(str(tmp_path / "moot.db"))
    reader.execute("begin; select count(*) from instances")
    await store.write(adds("a"), caller=SYSTEM)  # answered although the writer waits for the reader now
    reader.execute("rollback")
    await store.close()
    pages, moved = log_pages(reader)
    assert pages == moved
    reader.close()


async def test_slow_functions_are_logged(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    def slow(tx: Tx) -> None:
        sum(range(20_000_000))

    with caplog.at_level(logging.WARNING):
        await store.write(slow, caller=SYSTEM)
    assert "slow held the writer" in caplog.text
