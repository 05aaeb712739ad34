"""The workspace tools: with a host at work in a real repository, and what is refused before git is asked."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from moot.core.caller import Caller
from moot.core.json import Json
from moot.process import identity
from moot.registry.hosts import NewHost
from moot.runner import neighbours
from moot.runner.host import Host
from moot.runner.worktree_worker import WorktreeWorker
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools import isolation
from tests.tools.desk import OPERATOR, Desk, member, open_desk
from tests.workspaces import repos
from tests.workspaces.repos import Repo

FULL: Json = {"permissions": {"edit": "allow", "shell": "allow", "network": "allow"}}


@asynccontextmanager
async def working(store: Store, repo: Repo) -> AsyncGenerator[None]:
    """A host that does nothing but this."""
    (repo.top / ".workflow").mkdir(exist_ok=True)
    worker = WorktreeWorker(Worktrees(store, repo.top, repo.top / ".workflow"))
    new = NewHost(neighbours.machine(), str(identity.current()), ("react", "work"), None)
    host = Host(store, new, lambda id: {isolation.WORKTREE: worker})
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield
        finally:
            host.stop()


@dataclass(frozen=True)
class Yard:
    desk: Desk
    repo: Repo
    coder: Caller


@pytest.fixture
async def yard(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Yard]:
    monkeypatch.setenv("HOME", str(tmp_path))
    desk = await open_desk(store)
    repo = repos.make(tmp_path / "project")
    coder = await desk.house.join("coder")
    async with working(store, repo):
        yield Yard(desk, repo, member(coder))


async def test_from_the_first_call_to_the_last(yard: Yard) -> None:
    made = await yard.desk.done(yard.coder, "workspace_create", branch="fix", base_branch="main")
    assert (made["status"], made["base_commit"]) == ("active", yard.repo.tip("main"))
    assert "waiting" not in made
    tree = Repo(Path(made["worktree_path"]))
    tree.write("a.txt", "done\n")
    merged = await yard.desk.done(yard.coder, "workspace_merge", id=made["id"])
    assert (merged["status"], merged["merge_commit"]) == ("merged", yard.repo.tip("main"))
    assert yard.repo.read("a.txt") == "done\n"
    gone = await yard.desk.done(yard.coder, "workspace_update", id=made["id"], status="merged", cleanup_worktree=True)
    assert (gone["status"], "worktree_path" in gone) == ("merged", False)
    assert (yard.repo.branches(), yard.repo.worktrees()) == (["main"], [yard.repo.top])
    (listed,) = (await yard.desk.done(OPERATOR, "workspace_list", status="merged"))["workspaces"]
    assert (listed["id"], listed["created_by"]) == (made["id"], "coder")
    assert (await yard.desk.done(OPERATOR, "workspace_list", status="active"))["workspaces"] == []
