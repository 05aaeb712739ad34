"""The files people read follow the store, and can be deleted or spoilt at any time."""

import asyncio
from pathlib import Path

import pytest

from moot.core import json
from moot.documents import documents, ownership, places
from moot.documents.places import Place
from moot.store.store import Store
from moot.views import live
from moot.views.keeper import DocumentKeeper
from moot.views.live import LiveViews
from tests.registry.house import House, build


async def text_of(folder: Path, name: str = "channel.md") -> str:
    return await asyncio.to_thread((folder / "default" / name).read_text, encoding="utf-8")


async def shown(house: House, folder: Path) -> str:
    await LiveViews(house.store, folder).look()
    return await text_of(folder)


async def test_the_channel_grows_with_what_is_said(store: Store, tmp_path: Path) -> None:
    house = await build(store)
    views = LiveViews(store, tmp_path)
    await house.post("one")
    first = await views.look()
    inode = (tmp_path / "default" / "channel.md").stat().st_ino
    await house.post("two")
    second = await views.look()
    assert await views.look() == []
    text = await text_of(tmp_path)
    assert [text.count(f"[human]\n{word}\n") for word in ("one", "two")] == [1, 1]
    assert text.count("## 2026-01-01\n") == 1
    assert (tmp_path / "default" / "channel.md").stat().st_ino == inode, "it was written anew"
    assert {path.name for path in first} == {"channel.md", "inbox-state.json", "proposals.json", "mcp.json"}
    assert [path.name for path in second] == ["channel.md"]


async def test_another_host_goes_on_where_one_left_off(store: Store, tmp_path: Path) -> None:
    house = await build(store)
    await house.post("one")
    before = await shown(house, tmp_path)
    await house.post("two")
    after = await shown(house, tmp_path)
    assert after.startswith(before)
    assert after.count("two") == 1


@pytest.mark.parametrize("spoil", ["deleted", "changed", "note deleted", "note garbage", "a link", "note a link"])
async def test_a_channel_that_is_not_what_we_left_is_written_anew(store: Store, tmp_path: Path, spoil: str) -> None:
    house = await build(store)
    await house.post("one")
    whole = await shown(house, tmp_path)
    file, note = tmp_path / "default" / "channel.md", tmp_path / "default" / ".channel.json"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    match spoil:
        case "deleted":
            file.unlink()
        case "changed":
            file.write_text("forged")
        case "note deleted":
            note.unlink()
        case "note garbage":
            note.write_text("{")
        case "a link":
            file.unlink()
            file.symlink_to(elsewhere)
        case _:
            note.unlink()
            note.symlink_to(elsewhere)
    await house.post("two")
    assert await shown(house, tmp_path) == whole + whole.partition("\n\n")[2].replace("one", "two")
    assert elsewhere.read_text() == "mine"


async def test_a_long_channel_is_written_in_pieces(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_CHUNK", 2)
    house = await build(store)
    for number in range(5):
        await house.post(f"number {number}")
    text = await shown(house, tmp_path)
    assert [text.count(f"number {number}\n") for number in range(5)] == [1] * 5
    assert text.index("number 1") < text.index("number 2") < text.index("number 4")


async def test_an_instance_where_nothing_was_said_has_an_empty_channel(store: Store, tmp_path: Path) -> None:
    house = await build(store)
    await house.join("ann")
    assert await shown(house, tmp_path) == ""
    assert (tmp_path / "default" / "context.sock").readlink() == tmp_path / "moot.sock"


async def test_the_state_of_inboxes_says_who_has_read_how_far(store: Store, tmp_path: Path) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    said = await house.post("one", ann, bob)
    views = LiveViews(store, tmp_path)
    await views.look()
    await house.write(lambda tx: live.instance_files.mailbox.ack_one(tx, ann.id, said.seq))
    assert [path.name for path in await views.look()] == ["inbox-state.json"], (
        "reading is no event, and seen all the same"
    )
    state = json.load_object(await text_of(tmp_path, "inbox-state.json"))
    assert state == {"readCursors": {"ann": live.instance_files.clock.to_iso(said.at)}, "unread": {"bob": 1}}


async def test_two_hosts_do_not_write_over_each_other(store: Store, tmp_path: Path) -> None:
    house = await build(store)
    first, second = LiveViews(store, tmp_path), LiveViews(store, tmp_path)
    for number in range(20):
        await house.post(f"number {number}")
        await asyncio.gather(first.look(), second.look())
    await first.look()
    text = await text_of(tmp_path)
    assert [text.count(f"number {number}\n") for number in range(20)] == [1] * 20


async def test_views_are_kept_while_a_host_runs(store: Store, tmp_path: Path) -> None:
    house = await build(store)
    async with asyncio.timeout(20), LiveViews(store, tmp_path).keeping():
        await house.post("one")
    assert "one" in await text_of(tmp_path)


async def test_what_is_in_the_way_of_one_file_or_instance_stops_no_other(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    house, other = await build(store), await build(store, "other")
    await house.post("one")
    await other.post("two")
    (tmp_path / "default" / "proposals.json").mkdir(parents=True)
    views = LiveViews(store, tmp_path)
    await views.look()
    assert "one" in await text_of(tmp_path)
    assert "two" in (tmp_path / "other/channel.md").read_text()
    assert len(views.problems) == 1
    assert "The files of default cannot be written" in views.problems[0]
    await house.post("three")
    await views.look()
    assert caplog.text.count("cannot be written") == 1


async def test_a_folder_that_is_a_link_is_not_written_to_and_stops_no_other(store: Store, tmp_path: Path) -> None:
    house, other = await build(store), await build(store, "other")
    await house.post("one")
    await other.post("two")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "default").symlink_to(tmp_path / "elsewhere")
    await LiveViews(store, tmp_path).look()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert "two" in (tmp_path / "other/channel.md").read_text()


async def test_an_instance_whose_agents_share_nothing_has_no_files(store: Store, tmp_path: Path) -> None:
    house = await build(store)
    await house.write(lambda tx: places.put(tx, house.instance.name, Place(is_kept=False)))
    await house.write(lambda tx: documents.write(tx, house.instance.name, None, "a text", ownership.SYSTEM))
    await house.post("one")
    assert await LiveViews(store, tmp_path, is_anew=True).look() == []
    assert await DocumentKeeper(store, tmp_path).look()
    assert not (tmp_path / "default").exists()
    await house.write(lambda tx: places.put(tx, house.instance.name, Place()))
    assert "[human]\none\n" in await shown(house, tmp_path)  # as soon as they do
