"""Two changes of documents that meet: nothing is overwritten unseen, and no rule is passed by."""

import pytest

from moot.core.ids import ProposalId
from moot.documents import documents, ownership
from moot.documents.errors import DocumentChanged, DocumentExists, ElectionInProgress, NotDocumentOwner, PathRefused
from moot.store.postgres import PostgresStore
from tests.documents.desk import ANN, BOB, HERE, shelf
from tests.interleave import interleave


async def test_of_two_writes_over_one_version_the_second_is_refused(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    await docs.write("a.md", "one")
    with pytest.raises(DocumentChanged, match="version 2"):
        await interleave(
            pg_store,
            lambda tx: documents.write(tx, HERE, "a.md", "ann's", ANN, 1),
            lambda tx: documents.write(tx, HERE, "a.md", "bob's", BOB, 1),
        )
    assert await docs.text("a.md") == "ann's"


async def test_two_first_writes_both_count(pg_store: PostgresStore) -> None:
    """Neither the rules nor the document are there yet."""
    docs = await shelf(pg_store)
    met = await interleave(
        pg_store,
        lambda tx: documents.write(tx, HERE, "a.md", "ann's", ANN),
        lambda tx: documents.write(tx, HERE, "a.md", "bob's", BOB),
    )
    assert met.second_waited
    assert (met.first.version, met.second.version) == (1, 2)
    assert [await docs.text("a.md", version) for version in (1, 2)] == ["ann's", "bob's"]


async def test_two_appends_are_both_in_the_text(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    await docs.write("a.md", "0")
    met = await interleave(
        pg_store,
        lambda tx: documents.append(tx, HERE, "a.md", "1", ANN),
        lambda tx: documents.append(tx, HERE, "a.md", "2", BOB),
    )
    assert met.second_waited
    assert await docs.text("a.md") == "012"


async def test_a_document_is_created_by_one_of_two(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    with pytest.raises(DocumentExists):
        await interleave(
            pg_store,
            lambda tx: documents.create(tx, HERE, "a.md", "ann's", ANN),
            lambda tx: documents.create(tx, HERE, "A.md", "bob's", BOB),
        )
    assert await docs.files() == {"a.md": 1}


async def test_a_file_and_a_folder_of_one_name_do_not_both_come_to_be(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    with pytest.raises(PathRefused):
        await interleave(
            pg_store,
            lambda tx: documents.create(tx, HERE, "a", "", ANN),
            lambda tx: documents.create(tx, HERE, "a/b.md", "", BOB),
        )
    assert await docs.files() == {"a": 1}


async def test_what_is_written_while_it_is_deleted_is_not_lost(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    await docs.write("a.md", "one")
    met = await interleave(
        pg_store,
        lambda tx: documents.delete(tx, HERE, "a.md", ANN),
        lambda tx: documents.append(tx, HERE, "a.md", "two", BOB),
    )
    assert (met.first.version, met.second.version) == (2, 3)
    assert await docs.text("a.md") == "two"


async def test_a_write_that_meets_the_start_of_an_election_is_refused_by_it(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    with pytest.raises(ElectionInProgress):
        await interleave(
            pg_store,
            lambda tx: ownership.elect(tx, HERE, ProposalId("pr_1")),
            lambda tx: documents.write(tx, HERE, "a.md", "x", ANN),
        )
    assert await docs.files() == {}


async def test_an_owner_is_given_after_the_writes_that_came_before(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    met = await interleave(
        pg_store,
        lambda tx: documents.write(tx, HERE, "a.md", "x", ANN),
        lambda tx: ownership.give(tx, HERE, "bob"),
    )
    assert met.second_waited
    with pytest.raises(NotDocumentOwner):
        await docs.write("a.md", "y")


async def test_a_write_that_meets_the_new_owner_is_refused(pg_store: PostgresStore) -> None:
    docs = await shelf(pg_store)
    await docs.write("a.md", "x")
    with pytest.raises(NotDocumentOwner):
        await interleave(
            pg_store,
            lambda tx: ownership.give(tx, HERE, "bob"),
            lambda tx: documents.write(tx, HERE, "a.md", "y", ANN),
        )
    assert await docs.text("a.md") == "x"


async def test_instances_do_not_wait_for_each_other(pg_store: PostgresStore) -> None:
    await shelf(pg_store)
    there = await shelf(pg_store, "other")
    met = await interleave(
        pg_store,
        lambda tx: documents.write(tx, HERE, "a.md", "x", ANN),
        lambda tx: documents.write(tx, there.instance, "b.md", "y", BOB),
    )
    assert not met.second_waited
