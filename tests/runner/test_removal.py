"""An instance that is removed leaves nothing behind, and touches nobody else."""

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName
from moot.core.tx import Query, ReadTx, Tx
from moot.documents import documents
from moot.documents.ownership import Author
from moot.registry import hosts, instances, runs
from moot.registry.errors import InstanceNotFound
from moot.registry.hosts import NewHost
from moot.registry.runs import InstanceBusy, NewRun
from moot.runner import removal
from moot.store.store import Store
from moot.tools import voting
from moot.workspaces import workspaces
from moot.workspaces.workspaces import NewWorkspace
from tests.registry.house import House, build

TABLES = [
    "events",
    "streams",
    "agents",
    "tokens",
    "messages",
    "mailbox",
    "jobs",
    "attempts",
    "operations",
    "runs",
    "documents",
    "document_versions",
    "document_rules",
    "blobs",
    "proposals",
    "electors",
    "requests",
    "workspaces",
    "workspace_tasks",
    "usage",
    "budgets",
    "instances",
]


async def counts(store: Store) -> dict[str, int]:
    def look(tx: ReadTx) -> dict[str, int]:
        return {table: tx.one(_count(table), int) for table in TABLES}

    return await store.read(look)


def _count(table: str) -> Query:
    text = f"select count(*) from {table}"
    return Query("count", text, text)


async def lived_in(store: Store, name: str) -> House:
    """An instance in which a little of everything has happened."""
    house = await build(store, name)
    ann, ben = await house.join("ann", "scripted"), await house.join("ben", "scripted")
    await house.post(f"hello in {name}", ann, ben)
    await house.start(ann)

    def change(tx: Tx) -> None:
        documents.write(tx, house.instance.name, "shared.md", "the same everywhere", Author("ann"))
        documents.write(tx, house.instance.name, "own.md", f"only {name}", Author("ann"))
        voting.start_election(tx, house.instance, [ann, ben])
        one = workspaces.add(tx, NewWorkspace(house.stream, house.instance.name, f"fix-{name}"))
        workspaces.attach(tx, one.id, ("tk_1",))

    await house.write(change)
    return house


async def test_everything_of_it_is_gone_and_nothing_of_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "_PIECE", 2)
    other = await lived_in(store, "other")
    before = await counts(store)
    house = await lived_in(store, "gone")
    await removal.remove(store, house.instance.name, SYSTEM)
    assert await counts(store) == before
    shared = await store.read(lambda tx: documents.read(tx, other.instance.name, "shared.md"))
    assert shared.content == "the same everywhere"
    with pytest.raises(InstanceNotFound):
        await store.read(lambda tx: instances.get(tx, "gone"))


async def test_its_name_begins_anew(store: Store) -> None:
    house = await lived_in(store, "gone")
    await removal.remove(store, house.instance.name, SYSTEM)
    again = await build(store, "gone")
    assert again.stream != house.stream
    assert await store.read(lambda tx: documents.all_of(tx, again.instance.name)) == []


async def test_it_is_not_removed_while_a_run_goes_on(store: Store) -> None:
    house = await build(store, "busy")
    host = await house.write(lambda tx: hosts.register(tx, NewHost("here", "1", ("run",))))
    run = await house.write(lambda tx: runs.start(tx, house.instance, NewRun("r", "r.yaml", "run", {}, {}, host)))
    with pytest.raises(InstanceBusy):
        await removal.remove(store, InstanceName("busy"), SYSTEM)
    await house.write(lambda tx: runs.end(tx, run, "done"))
    await removal.remove(store, InstanceName("busy"), SYSTEM)
    assert await store.read(lambda tx: runs.ids(tx, InstanceName("busy"))) == []
