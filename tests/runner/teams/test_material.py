"""What is reviewed: all that workers have changed, and what of it no commit can keep."""

from pathlib import Path

from moot.core.tx import ReadTx
from moot.documents import documents
from moot.store.store import Store
from tests.runner.teams.desk import HANDOFF, Desk, launched
from tests.workspaces import repos
from tests.workspaces.repos import Repo


async def working(store: Store, folder: Path) -> tuple[Desk, Repo]:
    """One worker has a worktree, the other changes nothing."""
    repos.make(folder)
    (folder / ".workflow").mkdir(mode=0o700)
    desk = await launched(store, folder)
    await desk.plans("a worker-1", "b worker-2")
    return desk, Repo(await desk.worktrees.of_agent(await desk.agent("worker-1")))


async def material(desk: Desk) -> str:
    def look(tx: ReadTx) -> str:
        return documents.read(tx, desk.house.instance.name, "review-1.md").content

    for name in ("worker-1", "worker-2"):
        await desk.turn(name, HANDOFF)
    return await desk.house.read(look)


async def test_what_is_not_committed_is_committed_and_shown(store: Store, tmp_path: Path) -> None:
    desk, tree = await working(store, tmp_path)
    tree.write("a.txt", "mine\n")
    text = await material(desk)
    assert "+mine\n" in text
    assert "on no branch" not in text
    assert tree.status() == []


async def test_a_repository_in_a_worktree_is_told_to_who_judges(store: Store, tmp_path: Path) -> None:
    desk, tree = await working(store, tmp_path)
    tree.write("a.txt", "mine\n")
    repos.make(tree.top / "clone")
    text = await material(desk)
    assert "+mine\n" in text
    assert f"This is on no branch (WORK_INSIDE): {tree.top} holds a repository of its own: clone/." in text
