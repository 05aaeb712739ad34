"""Jobs for worktrees: what a host takes up when it starts, leaves to others, and puts back when it stops."""

from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import HostId, StreamId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job
from moot.registry import instances
from moot.runner import worktree_worker
from moot.runner.worker import Task
from moot.runner.worktree_worker import WorktreeWorker
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools import isolation
from moot.workspaces import workspaces
from moot.workspaces.workspaces import NewWorkspace, Workspace
from tests.workspaces import repos

HOST = Appetite(HostId("ho_1"), others=10)


@pytest.fixture
def worker(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorktreeWorker:
    monkeypatch.setenv("HOME", str(tmp_path))
    repo = repos.make(tmp_path / "project")
    (repo.top / ".workflow").mkdir()
    return WorktreeWorker(Worktrees(store, repo.top, repo.top / ".workflow"))


async def add(store: Store, *, has_job: bool) -> Workspace:
    def change(tx: Tx) -> Workspace:
        instance = instances.ensure(tx, "default")
        new = NewWorkspace(instance.stream, instance.name, "fix", created_name="coder")
        return isolation.create(tx, new) if has_job else workspaces.add(tx, new)

    return await store.write(change, caller=SYSTEM)


async def live(store: Store, stream: StreamId) -> list[str]:
    return [f"{job.kind} {job.subject} {job.state}" for job in await store.read(lambda tx: jobs.live(tx, stream))]


async def take(store: Store, worker: WorktreeWorker) -> tuple[Job, Task | None]:
    def change(tx: Tx) -> tuple[Job, Task | None]:
        (job,) = jobs.take(tx, HOST)
        return job, worker.begin(tx, job)

    return await store.write(change, caller=SYSTEM)


async def test_a_wish_without_a_job_is_taken_up_by_the_next_host(store: Store, worker: WorktreeWorker) -> None:
    one = await add(store, has_job=False)
    assert await live(store, one.stream) == []
    for _ in range(2):
        await worktree_worker.take_up(worker.worktrees)
    assert await live(store, one.stream) == [f"worktree {one.id} queued"]
    _, task = await take(store, worker)
    assert task is not None
    await task()
    assert await live(store, one.stream) == []
    assert (await store.read(lambda tx: workspaces.get(tx, one.id))).status == "active"
    await worktree_worker.take_up(worker.worktrees)
    assert await live(store, one.stream) == []


async def test_what_belongs_to_another_place_is_left_to_it(store: Store, worker: WorktreeWorker) -> None:
    one = await add(store, has_job=True)
    await store.write(lambda tx: workspaces.settle(tx, one.id, "elsewhere:/project"), caller=SYSTEM)
    _, task = await take(store, worker)
    assert task is None
    assert await live(store, one.stream) == [f"worktree {one.id} queued"]
    assert await store.read(lambda tx: workspaces.unfinished(tx, worker.worktrees.place)) == []


async def test_a_job_for_what_is_done_already_is_closed(store: Store, worker: WorktreeWorker) -> None:
    one = await add(store, has_job=True)
    await worker.worktrees.carry_out(one.id)
    _, task = await take(store, worker)
    assert task is None
    assert await live(store, one.stream) == []


async def test_a_lost_job_is_done_by_its_next_owner(store: Store, worker: WorktreeWorker) -> None:
    one = await add(store, has_job=True)
    await take(store, worker)
    await store.write(lambda tx: jobs.abandon(tx, HOST.host), caller=SYSTEM)

    def lose(tx: Tx) -> None:
        for job in jobs.lost(tx):
            worker.lost(tx, job)

    await store.write(lose, caller=SYSTEM)
    _, task = await take(store, worker)
    assert task is not None
    await task()
    assert (await store.read(lambda tx: workspaces.get(tx, one.id))).status == "active"
