"""A project whose root is a real repository, and a way to have wishes carried out in it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import WorkspaceId
from moot.core.records import replace
from moot.core.tx import Tx
from moot.registry import instances
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools import isolation
from moot.workspaces import workspaces
from moot.workspaces.workspaces import NewWorkspace, Workspace
from tests.workspaces import repos
from tests.workspaces.repos import Repo


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """git as moot runs it reads the settings of nobody."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return repos.make(tmp_path / "project")


@dataclass(frozen=True)
class Yard:
    """A project with workspaces."""

    store: Store
    repo: Repo

    @property
    def worktrees(self) -> Worktrees:
        own = self.repo.top / ".workflow"
        own.mkdir(exist_ok=True, mode=0o700)
        return Worktrees(self.store, self.repo.top, own)

    async def want(self, branch: str = "fix", *, base_branch: str = "", repo: str = "", setup: str = "") -> Workspace:
        def change(tx: Tx) -> Workspace:
            instance = instances.ensure(tx, "default")
            new = NewWorkspace(instance.stream, instance.name, branch, created_name="coder", setup=setup)
            return isolation.create(tx, replace(new, base_branch=base_branch, repo=repo))

        return await self.store.write(change, caller=SYSTEM)

    async def make(self, branch: str = "fix", *, base_branch: str = "", repo: str = "", setup: str = "") -> Workspace:
        """One that is asked for and made, or refused."""
        one = await self.want(branch, base_branch=base_branch, repo=repo, setup=setup)
        await self.worktrees.carry_out(one.id)
        return await self.get(one.id)

    async def get(self, id: WorkspaceId) -> Workspace:
        return await self.store.read(lambda tx: workspaces.get(tx, id))

    async def ask(self, id: WorkspaceId, wish: isolation.Wanted) -> Workspace:
        await self.store.write(lambda tx: isolation.ask(tx, id, wish), caller=SYSTEM)
        await self.worktrees.carry_out(id)
        return await self.get(id)

    async def merge(self, id: WorkspaceId) -> Workspace:
        return await self.ask(id, "merge")

    async def remove(self, id: WorkspaceId) -> Workspace:
        return await self.ask(id, "remove")


@pytest.fixture
def yard(sqlite_store: Store, repo: Repo) -> Yard:
    """What git does is the same whatever the store is."""
    return Yard(sqlite_store, repo)


def inside(one: Workspace) -> Repo:
    """Its worktree."""
    assert one.path is not None, one.trouble
    return Repo(Path(one.path))
