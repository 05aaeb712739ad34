"""Wake-ups between processes, and how they are lost without harm."""

import asyncio
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from moot.core.caller import SYSTEM
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.sockets import short_path
from moot.core.tx import Tx
from moot.store import sqlite, streams
from moot.store.sqlite.nudge import Nudges
from tests.store.sqlite.others import DEADLINE, emit_events, other

RUN = StreamId("wf_a")
NEVER = 1_000_000.0


class Ear:
    """Somebody who listens, as another process would."""

    def __init__(self, folder: Path) -> None:
        self.nudges = Nudges(folder)
        self._rung = asyncio.Event()
        self.nudges.receive(self._rung.set)

    async def hears(self) -> bool:
        """True when nudged; a second one is heard anew."""
        try:
            async with asyncio.timeout(DEADLINE):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True

    async def hears_nothing(self) -> bool:
        """True if nothing has arrived: what was sent before is in the socket already."""
        await asyncio.sleep(0)
        return not self._rung.is_set()

    def close(self) -> None:
        self.nudges.stop_receiving()
        self.nudges.close()


@contextmanager
def ear(folder: Path) -> Generator[Ear]:
    listening = Ear(folder)
    try:
        yield listening
    finally:
        listening.close()


@contextmanager
def mouth(folder: Path) -> Generator[Nudges]:
    nudges = Nudges(folder)
    try:
        yield nudges
    finally:
        nudges.close()


async def test_everybody_but_the_sender_is_nudged(tmp_path: Path) -> None:
    with ear(tmp_path / "wake") as sender, ear(tmp_path / "wake") as first, ear(tmp_path / "wake") as second:
        sender.nudges.send()
        assert await first.hears()
        assert await second.hears()
        assert await sender.hears_nothing()


async def test_one_who_comes_within_a_tick_of_the_clock_is_nudged(tmp_path: Path) -> None:
    folder = tmp_path / "wake"
    with mouth(folder) as sender, ear(folder) as first:
        stamp = os.stat(folder).st_mtime_ns
        sender.send()
        assert await first.hears()
        with ear(folder) as second:
            os.utime(folder, ns=(stamp, stamp))  # a file system whose clock stands still between the two
            sender.send()
            assert await second.hears()


async def test_one_who_comes_later_is_nudged(tmp_path: Path) -> None:
    folder = tmp_path / "wake"
    with mouth(folder) as sender:
        os.utime(folder, ns=(0, 0))
        sender.send()
        with ear(folder) as late:
            sender.send()
            assert await late.hears()


async def test_a_folder_that_does_not_change_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, looks = tmp_path / "wake", list[object]()
    listdir = os.listdir

    def counted(path: int) -> list[str]:
        looks.append(path)
        return listdir(path)

    with mouth(folder) as sender, ear(folder) as listener:
        os.utime(folder, ns=(0, 0))
        monkeypatch.setattr(os, "listdir", counted)
        for _ in range(5):
            sender.send()
        assert await listener.hears()
    assert len(looks) == 1


async def test_a_socket_left_by_a_dead_process_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "wake"
    with mouth(folder) as sender:
        dead = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        dead.bind(str(folder / "dead"))
        dead.close()
        sender.send()
        assert not (folder / "dead").exists()


async def test_nothing_but_sockets_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "wake"
    with mouth(folder) as sender, ear(folder) as listener:
        (folder / "letter.txt").write_text("mine")
        (folder / "drawer").mkdir()
        (folder / "link").symlink_to(tmp_path / "elsewhere")
        sender.send()
        assert await listener.hears()
        assert {"letter.txt", "drawer", "link"} <= set(os.listdir(folder))


async def test_a_full_socket_blocks_nobody(tmp_path: Path) -> None:
    with mouth(tmp_path / "wake") as sender, ear(tmp_path / "wake") as listener:
        for _ in range(2_000):
            sender.send()
        assert await listener.hears()
        assert await listener.hears_nothing()  # all of them were one ring
        sender.send()
        assert await listener.hears()


async def test_who_stops_leaves_no_socket_behind(tmp_path: Path) -> None:
    with ear(tmp_path / "wake"):
        assert len(os.listdir(tmp_path / "wake")) == 1
    assert os.listdir(tmp_path / "wake") == []


async def test_who_cannot_have_a_socket_listens_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nudges = Nudges(tmp_path / "wake")
    (tmp_path / "wake").rmdir()
    nudges.receive(lambda: None)
    assert "once a second" in caplog.text
    nudges.stop_receiving()
    nudges.send()
    nudges.close()
    nudges.close()


def test_a_folder_that_somebody_put_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "wake").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="wake"):
        Nudges(tmp_path / "wake")


def test_a_short_path_stays_as_it_is() -> None:
    assert short_path(Path("/a/b"), 7) == "/a/b"


def test_a_path_is_measured_in_bytes() -> None:
    assert short_path(Path("/" + "é" * 60) / "socket", 7) == "/proc/self/fd/7/socket"


def deep(folder: Path) -> Path:
    """A folder whose sockets would not fit into an address."""
    return folder / ("d" * 80) / ("é" * 40)


async def test_a_project_may_lie_deep(tmp_path: Path) -> None:
    first = sqlite.open_file(deep(tmp_path) / "moot.db", create=True)
    second = sqlite.open_file(deep(tmp_path) / "moot.db", create=True)
    await first.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    with second.listen() as signal:
        assert len(os.listdir(deep(tmp_path) / "moot.db-wake")) == 1
        await first.write(says, caller=SYSTEM)
        assert await signal.wait(DEADLINE)
    await first.close()
    await second.close()


def says(tx: Tx) -> int:
    return tx.emit(Event(RUN, "said", "ann", {})).seq


async def test_a_nudge_arrives_from_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.store.sqlite.store._BACKSTOP_SECONDS", NEVER)
    store = sqlite.open_file(tmp_path / "moot.db", create=True)
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    with other(emit_events, tmp_path / "moot.db", RUN, 1) as writer, store.listen() as signal:
        assert writer.hears() == "ready"
        assert not await signal.wait(0)
        writer.say("go")
        assert await signal.wait(DEADLINE)
        assert [event.seq for event in (await store.feed().page({})).events] == [1]
        writer.end()
    await store.close()


async def test_what_comes_without_a_nudge_is_found_by_the_backstop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite.store._BACKSTOP_SECONDS", 0.02)
    store = sqlite.open_file(tmp_path / "moot.db", create=True)
    stranger = apsw.Connection(str(tmp_path / "moot.db"))
    with store.listen() as signal:
        for _ in range(3):
            signal.clear()
            assert not await signal.wait(0.05), "nothing has changed"
            stranger.execute("update meta set value = value + 1")
            assert await signal.wait(DEADLINE)
    stranger.close()
    await store.close()


async def test_a_store_hears_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.store.sqlite.store._BACKSTOP_SECONDS", NEVER)
    store = sqlite.open_file(tmp_path / "moot.db", create=True)
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    with store.listen() as signal:
        await store.write(lambda tx: None, caller=SYSTEM)
        assert not await signal.wait(0), "there was no news"
        await store.write(lambda tx: tx.wake(), caller=SYSTEM)
        assert await signal.wait(DEADLINE)
    await store.close()
