"""A keeper brings every instance's documents to disk when they change, and edits on disk in."""

import asyncio
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.core import folder
from moot.core.folder import Folder, Stamp
from moot.core.ids import InstanceName
from moot.store.store import Store
from moot.views.keeper import DocumentKeeper, Rhythm
from tests.documents.desk import Shelf, shelf

DEADLINE = 20.0
QUICK = Rhythm(scan_seconds=0.05, pause_seconds=0.01, settle_seconds=0.0)
BY_EVENTS = Rhythm(scan_seconds=600.0, pause_seconds=0.01, settle_seconds=0.0)


@pytest.fixture
def above(tmp_path: Path) -> Path:
    found = tmp_path / ".workflow"
    found.mkdir()
    return found


async def appears(file: Path, content: str | None) -> None:
    """Nothing tells us that a file has changed, so it is looked at again and again."""
    async with asyncio.timeout(DEADLINE):
        while True:
            if (file.read_text() if file.exists() else None) == content:
                return
            await asyncio.sleep(0.005)


async def becomes(docs: Shelf, file: str, content: str) -> None:
    with docs.store.listen() as signal:
        async with asyncio.timeout(DEADLINE):
            while True:
                signal.clear()
                if file in await docs.files() and await docs.text(file) == content:
                    return
                await signal.wait()


async def test_a_change_in_the_store_is_on_disk_soon(store: Store, neighbour: Store, above: Path) -> None:
    """Woken by the commit, of this process or another."""
    async with DocumentKeeper(store, above, BY_EVENTS).keeping():
        here, there = await shelf(store), await shelf(neighbour, "other")
        await here.write("notes.md", "one")
        await appears(above / "default/notes.md", "one")
        await there.write("a/b.md", "two")
        await appears(above / "other/a/b.md", "two")
        await here.delete("notes.md")
        await appears(above / "default/notes.md", None)


async def test_an_edit_on_disk_is_in_the_store_soon(store: Store, above: Path) -> None:
    docs = await shelf(store)
    await docs.write("notes.md", "one")
    async with DocumentKeeper(store, above, QUICK).keeping():
        await appears(above / "default/notes.md", "one")
        (above / "default/notes.md").write_text("two")
        (above / "default/new.md").write_text("new")
        await becomes(docs, "notes.md", "two")
        await becomes(docs, "new.md", "new")


async def test_the_last_change_is_on_disk_when_the_keeper_has_gone(store: Store, above: Path) -> None:
    docs = await shelf(store)
    async with DocumentKeeper(store, above, Rhythm(600, 600)).keeping():
        await docs.write("notes.md", "last")
    assert (above / "default/notes.md").read_text() == "last"


async def test_the_last_change_is_on_disk_though_a_look_was_interrupted(
    store: Store, above: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that is at work in the folder goes on when the block ends, and holds its lock."""
    docs = await shelf(store)
    await docs.write("notes.md", "first")
    is_reading, may_go_on = threading.Event(), threading.Event()
    listing = Folder.files

    def files(self: Folder) -> dict[str, Stamp]:
        is_reading.set()
        may_go_on.wait(DEADLINE)
        return listing(self)

    monkeypatch.setattr(Folder, "files", files)
    async with DocumentKeeper(store, above, BY_EVENTS).keeping():
        await asyncio.to_thread(is_reading.wait, DEADLINE)
        await docs.write("notes.md", "last")
        asyncio.get_running_loop().call_later(0.1, may_go_on.set)
    assert (above / "default/notes.md").read_text() == "last"


async def test_the_last_look_waits_for_another_process(store: Store, above: Path) -> None:
    docs = await shelf(store)
    await docs.write("notes.md", "last")
    (above / "default").mkdir()
    with ExitStack() as held:
        place = held.enter_context(folder.opened(above, "default"))
        assert place is not None
        assert place.lock()
        async with DocumentKeeper(store, above, BY_EVENTS).keeping():
            asyncio.get_running_loop().call_later(0.05, held.close)
    assert (above / "default/notes.md").read_text() == "last"


async def test_a_folder_that_cannot_be_used_stops_no_other(store: Store, above: Path, tmp_path: Path) -> None:
    docs, other = await shelf(store), await shelf(store, "other")
    await docs.write("notes.md", "one")
    await other.write("notes.md", "two")
    (above / "default").symlink_to(tmp_path)
    keeper = DocumentKeeper(store, above)
    assert await keeper.look()
    assert (above / "other/notes.md").read_text() == "two"
    assert not (tmp_path / "notes.md").exists()


async def test_one_instance_can_be_looked_at_alone(store: Store, above: Path) -> None:
    docs, other = await shelf(store), await shelf(store, "other")
    await docs.write("notes.md", "one")
    await other.write("notes.md", "two")
    assert await DocumentKeeper(store, above).look(InstanceName("other"))
    assert [one.name for one in above.iterdir()] == ["other"]
    with folder.opened(above, "other") as held:
        assert held is not None
        assert held.lock()
        assert not await DocumentKeeper(store, above).look(InstanceName("other"))
