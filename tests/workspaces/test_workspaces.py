"""Workspaces as rows: what may follow what, and two who want the same."""

from collections.abc import Callable

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName, WorkspaceId
from moot.core.records import replace
from moot.core.tx import Tx
from moot.registry import instances
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.workspaces import workspaces
from moot.workspaces.errors import BranchTaken, MergeConflict, WorkspaceClosed, WorkspaceNotFound
from moot.workspaces.outcomes import Conflict, Step
from moot.workspaces.workspaces import NewWorkspace, Plan, Workspace
from tests.interleave import interleave

HERE = InstanceName("default")
PLAN = Plan("/repo", "/repo/.workflow/worktrees/x", "main", "c0", is_branch_ours=True)


async def write(store: Store, change: Callable[[Tx], Workspace]) -> Workspace:
    return await store.write(change, caller=SYSTEM)


def add(tx: Tx, branch: str = "fix") -> Workspace:
    stream = instances.ensure(tx, HERE).stream
    return workspaces.add(tx, NewWorkspace(stream, HERE, branch, created_name="coder"))


def active(tx: Tx) -> Workspace:
    one = add(tx)
    workspaces.plan(tx, one.id, replace(PLAN, path=f"/{one.id}"))
    workspaces.made(tx, one.id)
    return workspaces.get(tx, one.id)


async def test_from_asked_for_to_removed(store: Store) -> None:
    one = await write(store, add)
    assert (one.status, one.wanted, one.place) == ("creating", "make", "")
    assert await store.write(lambda tx: workspaces.settle(tx, one.id, "here"), caller=SYSTEM)
    assert not await store.write(lambda tx: workspaces.settle(tx, one.id, "there"), caller=SYSTEM)
    await write(store, lambda tx: workspaces.plan(tx, one.id, PLAN))
    planned = await store.read(lambda tx: workspaces.get(tx, one.id))
    assert (planned.path, planned.base_commit, planned.is_branch_ours) == (PLAN.path, "c0", True)
    await store.write(lambda tx: workspaces.made(tx, one.id), caller=SYSTEM)
    assert (await write(store, lambda tx: workspaces.want(tx, one.id, "merge"))).wanted == "merge"
    await store.write(lambda tx: workspaces.intend(tx, one.id, Step("c0", "c2")), caller=SYSTEM)
    await store.write(lambda tx: workspaces.merged(tx, one.id, "c2"), caller=SYSTEM)
    merged = await store.read(lambda tx: workspaces.get(tx, one.id))
    assert (merged.status, merged.wanted, merged.merge_from, merged.merge_commit) == ("merged", "", "c0", "c2")
    await write(store, lambda tx: workspaces.want(tx, one.id, "remove"))
    await store.write(lambda tx: workspaces.removed(tx, one.id, None), caller=SYSTEM)
    assert (await store.read(lambda tx: workspaces.get(tx, one.id))).path is None


async def test_a_branch_is_free_again_once_the_worktree_on_it_is_gone(store: Store) -> None:
    one = await write(store, active)
    await write(store, lambda tx: workspaces.close(tx, one.id, "abandoned"))
    for name in ("fix", "FIX"):
        with pytest.raises(BranchTaken):
            await write(store, lambda tx, name=name: add(tx, name))
    await write(store, lambda tx: workspaces.want(tx, one.id, "remove"))
    await store.write(lambda tx: workspaces.removed(tx, one.id, None), caller=SYSTEM)
    second = await write(store, add)
    assert await store.read(lambda tx: workspaces.on_branch(tx, "fix")) == second
    assert len(await store.read(lambda tx: workspaces.all_of(tx, HERE))) == 2


async def test_what_is_refused_is_told_as_it_was_met(store: Store) -> None:
    one = await write(store, active)
    await write(store, lambda tx: workspaces.want(tx, one.id, "merge"))
    error, conflicts = MergeConflict("both", "solve it"), (Conflict("a", "contents"),)
    await store.write(lambda tx: workspaces.refused(tx, one.id, error, conflicts), caller=SYSTEM)
    refused = await store.read(lambda tx: workspaces.get(tx, one.id))
    assert (refused.status, refused.wanted, refused.conflicts) == ("active", "", conflicts)
    assert isinstance(refused.error, MergeConflict)
    assert (await write(store, lambda tx: workspaces.want(tx, one.id, "merge"))).trouble == {}


async def test_what_cannot_follow_is_refused(store: Store) -> None:
    with pytest.raises(WorkspaceNotFound):
        await store.read(lambda tx: workspaces.get(tx, WorkspaceId("ws_x")))
    one = await write(store, active)
    with pytest.raises(WorkspaceNotFound):
        await store.read(lambda tx: workspaces.get(tx, one.id, InstanceName("other")))
    await write(store, lambda tx: workspaces.want(tx, one.id, "remove"))
    with pytest.raises(WorkspaceClosed):
        await write(store, lambda tx: workspaces.want(tx, one.id, "merge"))
    await store.write(lambda tx: workspaces.removed(tx, one.id, None), caller=SYSTEM)
    with pytest.raises(WorkspaceClosed):
        await write(store, lambda tx: workspaces.want(tx, one.id, "merge"))
    with pytest.raises(WorkspaceClosed):
        await write(store, lambda tx: workspaces.close(tx, one.id, "merged"))


async def test_tasks_are_attached_once(store: Store) -> None:
    one = await write(store, active)
    for _ in range(2):
        await store.write(lambda tx: workspaces.attach(tx, one.id, ("tk_2", "tk_1")), caller=SYSTEM)
    assert await store.read(lambda tx: workspaces.tasks_of(tx, one.id)) == ["tk_1", "tk_2"]
    assert await store.read(lambda tx: workspaces.of_task(tx, "tk_1")) == [one]
    await store.write(lambda tx: workspaces.forget(tx, HERE), caller=SYSTEM)
    assert await store.read(lambda tx: workspaces.of_task(tx, "tk_1")) == []
    assert await store.read(workspaces.everywhere) == []


async def test_two_at_once_do_not_get_the_same_branch(pg_store: PostgresStore) -> None:
    await pg_store.write(lambda tx: instances.ensure(tx, HERE), caller=SYSTEM)
    with pytest.raises(BranchTaken):
        await interleave(pg_store, add, add)
    assert len(await pg_store.read(workspaces.everywhere)) == 1


async def test_one_that_is_merged_by_one_is_not_abandoned_by_another(pg_store: PostgresStore) -> None:
    one = await write(pg_store, active)
    with pytest.raises(WorkspaceClosed):
        await interleave(
            pg_store,
            lambda tx: workspaces.close(tx, one.id, "merged", "c1"),
            lambda tx: workspaces.close(tx, one.id, "abandoned"),
        )
    assert (await pg_store.read(lambda tx: workspaces.get(tx, one.id))).status == "merged"


async def test_two_wishes_at_once_do_not_overwrite_each_other(pg_store: PostgresStore) -> None:
    one = await write(pg_store, active)
    with pytest.raises(WorkspaceClosed):
        await interleave(
            pg_store,
            lambda tx: workspaces.want(tx, one.id, "merge"),
            lambda tx: workspaces.want(tx, one.id, "remove"),
        )
    assert (await pg_store.read(lambda tx: workspaces.get(tx, one.id))).wanted == "merge"
