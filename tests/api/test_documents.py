"""Documents for the commands: the person writes always, an agent under the rules, an observer never."""

from pathlib import Path

import pytest

from moot.api import documents
from moot.core.caller import SYSTEM
from moot.core.errors import NotAllowed
from moot.documents import ownership
from moot.documents.errors import NotDocumentOwner
from moot.store.store import Store
from tests.api.desk import DEFAULT, as_agent, join, person


async def test_the_person_writes_over_any_owner(store: Store, tmp_path: Path) -> None:
    me = person(store, tmp_path)
    await documents.write(me, None, "one")
    await store.write(lambda tx: ownership.give(tx, DEFAULT, "ann"), caller=SYSTEM)
    assert (await documents.append(me, None, " two", 1)).version == 2
    assert (await documents.read(me, None)).content == "one two"
    assert (await documents.shelf(me)).owner == "ann"
    assert [(one.version, one.author) for one in await documents.history(me, "notes.md", 10)] == [
        (1, "human"),
        (2, "human"),
    ]
    assert (await documents.delete(me, "notes.md")).version == 3


async def test_an_agent_is_bound_by_the_owner_and_an_observer_by_its_role(store: Store, tmp_path: Path) -> None:
    bob = await join(store, "bob")
    await documents.write(as_agent(store, tmp_path, bob), "notes.md", "one")
    with pytest.raises(NotAllowed):
        await documents.write(as_agent(store, tmp_path, bob, "observer"), "notes.md", "two")
    await store.write(lambda tx: ownership.give(tx, DEFAULT, "ann"), caller=SYSTEM)
    for change in (documents.write, documents.append):
        with pytest.raises(NotDocumentOwner):
            await change(as_agent(store, tmp_path, bob), "notes.md", "two")
    assert (await documents.read(person(store, tmp_path), "notes.md")).content == "one"


async def test_files_and_documents_are_brought_together(store: Store, tmp_path: Path) -> None:
    me = person(store, tmp_path)
    await documents.write(me, "a/b.md", "one")
    await documents.refresh(me)
    assert not (tmp_path / ".workflow").exists()  # the folder of a project is made by those who keep something there
    me.project.make_folder()
    await documents.refresh(me)
    file = tmp_path / ".workflow/default/a/b.md"
    assert file.read_text() == "one"
    file.write_text("two")
    await documents.refresh(me)
    found = await documents.read(me, "a/b.md")
    assert (found.content, found.author) == ("two", "disk")
