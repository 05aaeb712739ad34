"""Documents are kept with every version, under one name each."""

import pytest

from moot.core.caller import SYSTEM
from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName
from moot.documents import documents
from moot.documents.errors import (
    DocumentChanged,
    DocumentExists,
    DocumentNotFound,
    DocumentTooLarge,
    PathRefused,
)
from moot.registry import instances
from moot.store import feed
from moot.store.store import Store
from tests.documents.desk import ANN, BOB, HERE, shelf


async def test_versions_count_from_one_and_all_stay_readable(store: Store) -> None:
    docs = await shelf(store)
    assert (await docs.write("notes.md", "one")).version == 1
    assert (await docs.write("notes.md", "two", BOB)).version == 2
    assert (await docs.append("notes.md", " and more")).version == 3
    assert await docs.text("notes.md") == "two and more"
    assert [await docs.text("notes.md", number) for number in (1, 2, 3)] == ["one", "two", "two and more"]
    assert await docs.history("notes.md") == ["1 written ann", "2 written bob", "3 appended ann"]
    with pytest.raises(DocumentNotFound, match="no version 4"):
        await docs.text("notes.md", 4)


async def test_the_entry_point_is_read_when_no_file_is_named(store: Store) -> None:
    docs = await shelf(store)
    assert await docs.text() == ""
    await docs.write("notes.md", "hello")
    assert await docs.text() == "hello"
    await store.write(lambda tx: documents.configure(tx, HERE, "start.md", ("a/goals.md",)), caller=SYSTEM)
    assert await docs.text() == ""
    assert await docs.files() == {"a/goals.md": 1, "notes.md": 1, "start.md": 1}


async def test_configuring_again_changes_no_text(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("goals.md", "win")
    for _ in range(2):
        await store.write(lambda tx: documents.configure(tx, HERE, "notes.md", ("goals.md",)), caller=SYSTEM)
    assert await docs.files() == {"goals.md": 1, "notes.md": 1}
    assert await docs.text("goals.md") == "win"
    await docs.delete("goals.md")
    await store.write(lambda tx: documents.configure(tx, HERE, "notes.md", ("goals.md",)), caller=SYSTEM)
    assert await docs.files() == {"goals.md": 3, "notes.md": 1}


async def test_what_is_there_already_makes_no_version(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("notes.md", "one")
    again = await docs.write("notes.md", "one", BOB)
    assert (again.version, again.is_new) == (1, False)
    assert not (await docs.append("notes.md", "")).is_new
    assert await docs.history("notes.md") == ["1 written ann"]


async def test_a_stale_version_is_refused_with_the_current_one(store: Store) -> None:
    docs = await shelf(store)
    with pytest.raises(DocumentChanged, match="no such document"):
        await docs.write("notes.md", "one", if_version=1)
    await docs.write("notes.md", "one", if_version=0)
    await docs.write("notes.md", "two", if_version=1)
    for stale in (0, 1, 3):
        with pytest.raises(DocumentChanged, match="at version 2") as refused:
            await docs.write("notes.md", "three", if_version=stale)
        assert refused.value.version == 2
        with pytest.raises(DocumentChanged):
            await docs.delete("notes.md", if_version=stale)
    assert await docs.text("notes.md") == "two"


async def test_a_document_is_created_once(store: Store) -> None:
    docs = await shelf(store)
    assert (await docs.create("a.md", "x")).action == "created"
    for name in ("a.md", "A.MD"):
        with pytest.raises(DocumentExists):
            await docs.create(name, "y")
    assert await docs.text("a.md") == "x"


async def test_a_deleted_document_is_gone_but_its_past_is_not(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("a.md", "x")
    assert (await docs.delete("a.md", BOB)).version == 2
    assert await docs.files() == {}
    with pytest.raises(DocumentNotFound):
        await docs.text("a.md")
    with pytest.raises(DocumentNotFound):
        await docs.delete("a.md")
    assert await docs.text("a.md", 1) == "x"
    assert (await docs.create("A.md", "x")).version == 3
    assert await docs.files() == {"A.md": 3}
    assert await docs.history("a.md") == ["1 written ann", "2 deleted bob", "3 created ann"]


async def test_a_name_in_another_spelling_is_the_same_document(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("Ärger.md", "one")
    assert (await docs.write("a\u0308rger.md", "two")).file == "Ärger.md"
    assert await docs.files() == {"Ärger.md": 2}


async def test_a_name_is_a_file_or_a_folder(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("a/b.md", "x")
    for name in ("a", "A", "a/b.md/c", "a/B.MD/c/d"):
        with pytest.raises(PathRefused, match="is there"):
            await docs.write(name, "x")
    await docs.write("a/b.md2", "x")
    await docs.delete("a/b.md")
    await docs.delete("a/b.md2")
    await docs.write("a", "x")


@pytest.mark.parametrize("content", ["a\0b", "\ud800", "x" * (documents.MOST_CHARACTERS + 1)])
async def test_what_no_store_can_keep_is_refused(store: Store, content: str) -> None:
    docs = await shelf(store)
    for change in (docs.write, docs.append, docs.create):
        with pytest.raises(InvalidInput):
            await change("a.md", content)
    assert await docs.files() == {}


async def test_a_document_does_not_grow_beyond_the_limit(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("a.md", "x" * (documents.MOST_CHARACTERS - 1))
    await docs.append("a.md", "y")
    with pytest.raises(DocumentTooLarge):
        await docs.append("a.md", "z")
    assert (await docs.files())["a.md"] == 2


async def test_there_is_an_end_to_the_number_of_documents(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_DOCUMENTS", 2)
    docs = await shelf(store)
    for name in ("a.md", "b.md"):
        await docs.write(name, "x")
    with pytest.raises(DocumentTooLarge):
        await docs.write("c.md", "x")
    await docs.write("b.md", "y")


async def test_instances_keep_their_own(store: Store) -> None:
    here, there = await shelf(store), await shelf(store, "other")
    await here.write("a.md", "here")
    await there.write("a.md", "there")
    assert (await here.text("a.md"), await there.text("a.md")) == ("here", "there")
    assert await store.read(documents.heads) == {HERE: 1, InstanceName("other"): 1}


async def test_every_change_is_an_event_that_wakes_no_host(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("a.md", "x")
    await docs.write("a.md", "x")
    await docs.delete("a.md", BOB)
    stream = (await store.read(lambda tx: instances.get(tx, HERE))).stream
    events = await store.read(lambda tx: feed.events_after(tx, stream, 0, 10))
    assert [(one.kind, one.subject, dict(one.data)) for one in events] == [
        (documents.CHANGED, "a.md", {"action": "written", "version": 1, "by": "ann"}),
        (documents.CHANGED, "a.md", {"action": "deleted", "version": 2, "by": "bob"}),
    ]
    assert await store.read(lambda tx: feed.with_news(tx, 10)) == []


async def test_an_unknown_document_has_no_history(store: Store) -> None:
    docs = await shelf(store)
    with pytest.raises(DocumentNotFound):
        await docs.history("a.md")
    assert await store.read(lambda tx: documents.history(tx, HERE, None, 10)) == []


async def test_the_version_with_a_text_is_found(store: Store) -> None:
    docs = await shelf(store)
    for content in ("one", "two", "one", "three"):
        await docs.write("a.md", content, ANN)
    found = [
        await store.read(lambda tx, text=text: documents.version_with(tx, HERE, "A.md", documents.hash_of(text)))
        for text in ("one", "two", "four")
    ]
    assert found == [3, 2, None]
