"""Several processes in one SQLite store."""

import asyncio
import random
from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.tx import Tx
from moot.store import sqlite, streams
from tests.store.sqlite.others import DEADLINE, emit_events, hold_turn, other

RUN = StreamId("wf_a")
EACH = 400


async def begin(path: Path) -> None:
    store = sqlite.open_file(path, create=True)
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    await store.close()


async def test_processes_that_write_at_once_lose_nothing_and_share_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite.store._BACKSTOP_SECONDS", 1_000_000.0)  # only nudges carry news
    await begin(tmp_path / "moot.db")
    store = sqlite.open_file(tmp_path / "moot.db", create=False)
    seen: list[int] = []

    async def follow() -> None:
        async for page in store.feed(RUN).follow({}):
            seen.extend(event.seq for event in page.events)
            if len(seen) >= 3 * EACH:
                return

    with ExitStack() as running:
        writers = [running.enter_context(other(emit_events, tmp_path / "moot.db", RUN, EACH)) for _ in range(2)]
        for writer in writers:
            assert writer.hears() == "ready"
        async with asyncio.timeout(3 * DEADLINE), asyncio.TaskGroup() as group:
            group.create_task(follow())
            for writer in writers:
                writer.say("go")
            mine = [await store.write(says, caller=SYSTEM) for _ in range(EACH)]
        theirs = [[int(seq) for seq in writer.hears_until("done")] for writer in writers]
        for writer in writers:
            writer.end()
    await store.close()
    assert seen == list(range(1, 3 * EACH + 1))
    assert sorted([*mine, *theirs[0], *theirs[1]]) == seen
    assert mine == sorted(mine)


def says(tx: Tx) -> int:
    return tx.emit(Event(RUN, "said", "me", {})).seq


@pytest.mark.parametrize("attempt", range(3))
async def test_processes_may_make_the_store_at_the_same_moment(tmp_path: Path, attempt: int) -> None:
    with ExitStack() as running:
        writers = [running.enter_context(other(emit_events, tmp_path / "new" / "moot.db", RUN, 0)) for _ in range(4)]
        for writer in writers:
            assert writer.hears() == "ready"
        for writer in writers:
            writer.end()


async def test_a_new_store_is_made_in_turn(tmp_path: Path) -> None:
    with other(hold_turn, tmp_path / "moot.db") as holder:
        assert [holder.hears(), holder.hears()] == ["drawn", "held"]
        making = asyncio.ensure_future(asyncio.to_thread(sqlite.open_file, tmp_path / "moot.db", create=True))
        done, _ = await asyncio.wait((making,), timeout=0.3)
        assert not done
        holder.end()
        async with asyncio.timeout(DEADLINE):
            store = await making
    await store.close()


async def test_nobody_who_only_reads_waits_for_a_turn(tmp_path: Path) -> None:
    await begin(tmp_path / "moot.db")
    with other(hold_turn, tmp_path / "moot.db") as holder:
        assert [holder.hears(), holder.hears()] == ["drawn", "held"]
        async with asyncio.timeout(DEADLINE):
            store = await asyncio.to_thread(sqlite.open_file, tmp_path / "moot.db", create=False)
            assert (await store.feed(RUN).page({})).events == ()
            await store.close()


async def kill_once(path: Path, after: int) -> None:
    """Kill a process after it was answered so often; all it was told must be there, and no number be missing."""
    with other(emit_events, path, RUN, 1_000_000) as writer:
        assert writer.hears() == "ready"
        writer.say("go")
        answered = [int(writer.hears()) for _ in range(after)]
        writer.kill()
        answered += [int(line) for line in writer.last_words()]
    store = sqlite.open_file(path, create=False)
    async with asyncio.timeout(DEADLINE):
        last = await store.write(says, caller=SYSTEM)
    events = (await store.feed(RUN).page({}, last)).events
    assert [event.seq for event in events] == list(range(1, last + 1))
    assert max(answered) < last
    await store.close()


async def test_a_process_killed_while_it_writes_loses_nothing_it_was_told(tmp_path: Path) -> None:
    await begin(tmp_path / "moot.db")
    for after in (1, 20, 100):
        await kill_once(tmp_path / "moot.db", after)


@pytest.mark.chaos
async def test_processes_killed_again_and_again_lose_nothing_they_were_told(tmp_path: Path) -> None:
    await begin(tmp_path / "moot.db")
    dice = random.Random(7)
    for _ in range(200):
        await kill_once(tmp_path / "moot.db", dice.randrange(1, 300))


async def test_the_log_stays_short_while_several_write(tmp_path: Path) -> None:
    await begin(tmp_path / "moot.db")
    store = sqlite.open_file(tmp_path / "moot.db", create=False)  # who closes last removes the log
    with ExitStack() as running:
        writers = [running.enter_context(other(emit_events, tmp_path / "moot.db", RUN, 600, 12_000)) for _ in range(3)]
        for writer in writers:
            assert writer.hears() == "ready"
        for writer in writers:
            writer.say("go")
        for writer in writers:
            assert len(writer.hears_until("done")) == 600
        # Over 20 MB were written; the log is moved into the file at 4.
        assert (tmp_path / "moot.db-wal").stat().st_size < 12_000_000
        for writer in writers:
            writer.end()
    await store.close()
