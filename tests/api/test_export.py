"""Everything out of the store, in pieces, on both databases."""

from pathlib import Path

import pytest

from moot.api import export
from moot.store.store import Store
from moot.views import live
from tests.api.desk import join, person, say


async def test_a_long_channel_is_written_whole_and_in_order(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_CHUNK", 2)
    ann = await join(store, "ann")
    for number in range(5):
        await say(store, ann, f"number {number}")
    file, *_ = await export.views(person(store, tmp_path))
    text = file.read_text()
    assert [text.count(f"number {number}\n") for number in range(5)] == [1] * 5
    assert text.index("number 1") < text.index("number 2") < text.index("number 4")
    assert text.count("\n## ") + text.startswith("## ") == 1


async def test_lines_hold_every_event_of_every_instance(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    await join(store, "bob", instance=export.instances.InstanceName("other"))
    said = await say(store, ann, "hello")
    found = [line async for line in export.lines(person(store, tmp_path))]
    assert len({(line["stream"], line["seq"]) for line in found}) == len(found) == 4
    (message,) = [line["message"] for line in found if "message" in line]
    assert isinstance(message, dict)
    assert message["id"] == said.message.id
