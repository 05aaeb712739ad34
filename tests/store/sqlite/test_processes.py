"""Several processes in one SQLite store."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.tx import Tx
from moot.store import sqlite, streams
from tests.store.others import DEADLINE, emit_events, other

RUN = StreamId("wf_a")
EACH = 400


async def test_processes_that_write_at_once_lose_nothing_and_share_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite._BACKSTOP_SECONDS", 1_000_000.0)  # only nudges carry news
    store = sqlite.open_file(tmp_path / "moot.db", create=True)
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
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
        theirs = [[int(seq) for seq in writer.hears().split()] for writer in writers]
        for writer in writers:
            writer.end()
    await store.close()
    assert seen == list(range(1, 3 * EACH + 1))
    assert sorted([*mine, *theirs[0], *theirs[1]]) == seen
    assert mine == sorted(mine)


def says(tx: Tx) -> int:
    return tx.emit(Event(RUN, "said", "me", {}))


@pytest.mark.parametrize("attempt", range(3))
async def test_processes_may_make_the_store_at_the_same_moment(tmp_path: Path, attempt: int) -> None:
    with ExitStack() as running:
        writers = [running.enter_context(other(emit_events, tmp_path / "new" / "moot.db", RUN, 0)) for _ in range(4)]
        for writer in writers:
            assert writer.hears() == "ready"
        for writer in writers:
            writer.end()


async def test_a_process_killed_while_it_writes_leaves_all_that_was_said_and_no_gap(tmp_path: Path) -> None:
    store = sqlite.open_file(tmp_path / "moot.db", create=True)
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    with other(emit_events, tmp_path / "moot.db", RUN, 1_000_000) as writer, store.listen() as signal:
        assert writer.hears() == "ready"
        writer.say("go")
        assert await signal.wait(DEADLINE)
        writer.kill()
    async with asyncio.timeout(DEADLINE):
        last = await store.write(says, caller=SYSTEM)
    events = (await store.feed(RUN).page({}, last)).events
    assert [event.seq for event in events] == list(range(1, last + 1))
    await store.close()
