"""What comes in one turn of a loop is committed on its own thread, unless something would have to be waited for."""

import asyncio
import math
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import InstanceName
from moot.core.tx import Query, Tx
from moot.registry import instances
from moot.store import sqlite
from moot.store.errors import StoreClosed, StoreNotFound
from moot.store.sqlite import SqliteStore
from moot.store.store import Limits
from tests.store.sqlite.others import DEADLINE, hold_database, hold_turn, other

ADD = Query("add", "insert into meta (key, value) values (:name, 0)", "")
NAMES = Query("names", "select key from meta where key like 'n-%' order by key", "")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = sqlite.open_file(tmp_path / "moot.db", create=True, limits=Limits(at_once_seconds=math.inf))
    await store.write(lambda tx: None, caller=SYSTEM)
    yield store
    await store.close()


async def add(store: SqliteStore, name: str) -> bool:
    """Whether it was done on this thread."""

    def change(tx: Tx) -> bool:
        tx.run(ADD, name=f"n-{name}")
        return threading.get_ident() == here

    here = threading.get_ident()
    return await store.write(change, caller=SYSTEM)


async def names(store: SqliteStore) -> list[str]:
    return await store.read(lambda tx: tx.all(NAMES, str))


async def test_one_alone_is_done_here(store: SqliteStore) -> None:
    assert [await add(store, name) for name in "abc"] == [True, True, True]
    assert await names(store) == ["n-a", "n-b", "n-c"]


async def test_those_that_come_together_are_done_here_too(store: SqliteStore) -> None:
    assert await asyncio.gather(*(add(store, name) for name in "abc")) == [True, True, True]
    assert await asyncio.gather(*(add(store, name) for name in "def")) == [True, True, True]
    assert len(await names(store)) == 6


async def test_what_does_not_go_into_one_commit_is_left_to_the_writer(tmp_path: Path) -> None:
    limits = Limits(at_once_seconds=math.inf, batch_functions=2)
    store = sqlite.open_file(tmp_path / "moot.db", create=True, limits=limits)
    await asyncio.gather(*(add(store, name) for name in "ab"))
    assert await asyncio.gather(*(add(store, name) for name in "cdefg")) == [True, True, False, False, False]
    assert len(await names(store)) == 7
    await store.close()


async def test_whoever_writes_on_and_on_lets_others_have_their_turn(store: SqliteStore) -> None:
    turns = 0

    async def other_work() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    task = asyncio.ensure_future(other_work())
    for number in range(10_000):
        await add(store, str(number))
        if turns > 2:
            break
    task.cancel()
    assert turns > 2


async def test_after_a_slow_commit_the_writer_does_it(tmp_path: Path) -> None:
    store = sqlite.open_file(tmp_path / "moot.db", create=True, limits=Limits(at_once_seconds=0))
    assert [await add(store, name) for name in "ab"] == [False, False]
    await store.close()


@pytest.mark.parametrize("holder", [hold_database, hold_turn])
async def test_while_another_process_is_at_it_the_loop_goes_on(
    store: SqliteStore, tmp_path: Path, holder: object
) -> None:
    program = hold_turn if holder is hold_turn else hold_database
    with other(program, tmp_path / "moot.db") as holding:
        while holding.hears() != "held":
            pass
        waiting = asyncio.ensure_future(add(store, "late"))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        assert await names(store) == []
        holding.end()
    async with asyncio.timeout(DEADLINE):
        assert not await waiting
    assert await names(store) == ["n-late"]


async def test_a_function_that_fails_fails_alone(store: SqliteStore) -> None:
    def refused(tx: Tx) -> None:
        tx.run(ADD, name="n-bad")
        raise MootError("No.", "Never.")

    with pytest.raises(MootError, match="No"):
        await store.write(refused, caller=SYSTEM)
    assert await add(store, "good")
    assert await names(store) == ["n-good"]


async def test_an_interruption_in_the_middle_leaves_nothing(store: SqliteStore) -> None:
    def interrupted(tx: Tx) -> None:
        tx.run(ADD, name="n-bad")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await store.write(interrupted, caller=SYSTEM)
    assert await names(store) == []
    await add(store, "good")
    assert await names(store) == ["n-good"]


async def test_a_store_that_is_gone_is_named(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "moot.db").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreNotFound):
        await add(store, "a")
    (tmp_path / "elsewhere").rename(tmp_path / "moot.db")
    await add(store, "b")
    assert await names(store) == ["n-b"]


async def test_closing_comes_after_what_was_asked_for(tmp_path: Path) -> None:
    store = sqlite.open_file(tmp_path / "moot.db", create=True, limits=Limits(at_once_seconds=math.inf))
    asked = [asyncio.ensure_future(add(store, name)) for name in "abc"]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*asked)
    with pytest.raises(StoreClosed):
        await add(store, "d")


async def test_what_waits_for_another_process_at_the_end_is_still_committed(tmp_path: Path) -> None:
    store = sqlite.open_file(tmp_path / "moot.db", create=True, limits=Limits(at_once_seconds=math.inf))
    await add(store, "a")
    with other(hold_database, tmp_path / "moot.db") as holding:
        assert holding.hears() == "held"
        waiting = asyncio.ensure_future(add(store, "b"))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(store.close())
        await asyncio.sleep(0.02)
        holding.end()
    async with asyncio.timeout(DEADLINE):
        assert not await waiting
        await closing


async def test_listeners_are_woken_by_what_is_done_here(store: SqliteStore) -> None:
    instance = await store.write(lambda tx: instances.ensure(tx, InstanceName("here")), caller=SYSTEM)
    event = Event(instance.stream, "message_posted", "x", {})
    with store.listen() as signal:
        await asyncio.sleep(0)
        signal.clear()
        await add(store, "quiet")
        assert not await signal.wait(0.0)
        await store.write(lambda tx: tx.emit(event), caller=SYSTEM)
        assert await signal.wait(DEADLINE)
