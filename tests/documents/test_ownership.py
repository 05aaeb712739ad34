"""With an owner only the owner writes; during an election nobody; the person always."""

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName, ProposalId
from moot.documents import ownership
from moot.documents.errors import ElectionInProgress, NotDocumentOwner
from moot.documents.ownership import Ownership
from moot.store.store import Store
from tests.documents.desk import ANN, BOB, HERE, PERSON, Shelf, shelf

VOTE = ProposalId("pr_1")


async def give(store: Store, owner: str | None) -> None:
    await store.write(lambda tx: ownership.give(tx, HERE, owner), caller=SYSTEM)


async def rules(store: Store, instance: InstanceName = HERE) -> Ownership:
    return await store.read(lambda tx: ownership.ownership(tx, instance))


async def all_changes(docs: Shelf, by: ownership.Author) -> None:
    await docs.write("a.md", f"by {by.name}", by)
    await docs.append("a.md", "more", by)
    await docs.create("b.md", "x", by)
    await docs.delete("b.md", by)


async def refused_all(docs: Shelf, by: ownership.Author, error: type[Exception]) -> None:
    with pytest.raises(error):
        await docs.write("a.md", "x", by)
    with pytest.raises(error):
        await docs.append("a.md", "x", by)
    with pytest.raises(error):
        await docs.create("c.md", "x", by)
    with pytest.raises(error):
        await docs.delete("a.md", by)


async def test_without_an_owner_everybody_writes(store: Store) -> None:
    docs = await shelf(store)
    assert await rules(store) == Ownership()
    await all_changes(docs, ANN)
    await all_changes(docs, BOB)


async def test_only_the_owner_and_the_person_write(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("a.md", "first", BOB)
    await give(store, "Ann")
    await all_changes(docs, ANN)
    await all_changes(docs, PERSON)
    before = await docs.files()
    await refused_all(docs, BOB, NotDocumentOwner)
    assert await docs.files() == before
    with pytest.raises(NotDocumentOwner, match=r"Only @Ann .* document_suggest"):
        await docs.write("a.md", "x", BOB)
    await give(store, None)
    await all_changes(docs, BOB)


async def test_during_an_election_only_the_person_writes(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("a.md", "first")
    await give(store, "ann")
    await store.write(lambda tx: ownership.elect(tx, HERE, VOTE), caller=SYSTEM)
    assert await rules(store) == Ownership("ann", VOTE)
    await refused_all(docs, ANN, ElectionInProgress)
    await refused_all(docs, BOB, ElectionInProgress)
    await all_changes(docs, PERSON)
    await give(store, "bob")
    assert await rules(store) == Ownership("bob")
    await all_changes(docs, BOB)


async def test_the_rules_of_one_instance_do_not_bind_another(store: Store) -> None:
    await shelf(store)
    there = await shelf(store, "other")
    await give(store, "ann")
    await all_changes(there, BOB)
    assert await rules(store, there.instance) == Ownership()


async def test_who_may_read_is_not_asked(store: Store) -> None:
    docs = await shelf(store)
    await docs.write("a.md", "text")
    await give(store, "bob")
    assert await docs.text("a.md") == "text"
