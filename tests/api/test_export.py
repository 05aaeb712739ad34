"""Everything out of the store, in pieces, on both databases."""

from pathlib import Path

import pytest

from moot.api import export
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.store.store import Store
from moot.views import live
from tests.api import books
from tests.api.books import Asked, Begun
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


async def test_after_the_events_comes_what_every_attempt_did_and_each_cost_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "_PAGE", 1)

    def change(tx: Tx) -> tuple[Begun, Begun]:
        session = books.begin(tx, books.join(tx, "lead", model="opus"), books.run(tx, "fix"))
        session.grow(tx)
        session.open(tx, books.opened("", "session", "lead", "lead", "root"))
        books.ask(tx, session, Asked("t1/m", "", "lead", cost=7), Asked("t1/c1/s/t1/m", "", "helper", cost=5))
        return session, books.begin(tx, books.join(tx, "bob", backend="codex"))

    session, program = await store.write(change, caller=SYSTEM)
    found = [line async for line in export.lines(person(store, tmp_path))]
    kinds = [str(line["type"]) for line in found]
    assert kinds == sorted(kinds), "events come first"
    done = [line for line in found if line["type"] == "operation"]
    assert [(line["kind"], line["name"]) for line in done] == [
        ("attempt", "lead"),
        ("session", "lead"),
        ("turn", "turn 1"),
        ("model", "opus"),
        ("session", "helper"),
        ("turn", "turn 1"),
        ("model", "opus"),
        ("attempt", "bob"),
    ]
    assert (done[0]["id"], done[0]["parent"], done[0]["cost"]) == (session.attempt, session.scope, 0.000012)
    assert (done[-1]["id"], done[-1]["parent"]) == (program.attempt, None)
    ids = [line["id"] for line in done]
    assert all(line["parent"] in (*ids, session.scope, None) for line in done)
    spent = sum(line["cost"] for line in done if line["kind"] == "model" and isinstance(line["cost"], float))
    assert round(spent, 6) == 0.000012
