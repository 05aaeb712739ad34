"""What is done with every worktree, whatever is wanted of it: waiting for others who are at it, keeping its work."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from moot.process import sweep, tree
from moot.workspaces import locks, merging
from moot.workspaces import repository as repositories
from moot.workspaces.errors import BaseBusy, OtherBranch, RepositoryLocked
from moot.workspaces.keeping import Kept, Owner
from moot.workspaces.outcomes import Step
from moot.workspaces.workspaces import Workspace
from moot.workspaces.worktrees import Worktree

T = TypeVar("T")
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)  # for a lock that somebody else's git holds
_ORPHAN_SECONDS = 10.0  # for git that was left behind: it ends by itself, and killing it would leave a lock


def marker(one: Workspace) -> str:
    """Of all that is started for it."""
    return f"worktree-{one.id}"


def owner(one: Workspace) -> Owner:
    return Owner(one.created_name, one.branch, f"moot/kept/{one.id}", one.base_commit or "HEAD")


async def keep(one: Workspace, worktree: Worktree) -> Kept | None:
    """Commit what is there and not committed yet; None if there is no worktree. BaseBusy in the middle of a merge."""
    if not worktree.is_there:
        return None
    await _catch_up(one, worktree)
    if (what := repositories.under_way(worktree.note)) is not None:
        raise BaseBusy(f"Something is under way in {worktree.path} ({what}).", "Finish it there, and try again.")
    try:
        return await patiently(lambda: worktree.keep(owner(one)))
    except RepositoryLocked:
        if not await asyncio.to_thread(locks.release, worktree, one):
            raise
        return await worktree.keep(owner(one))


async def _catch_up(one: Workspace, worktree: Worktree) -> None:
    """Who was killed after its branch was moved has left files that are behind, which would pass for work."""
    if one.merge_from is None or one.merge_commit is None:
        return
    if await worktree.repository.tip(one.branch) == one.merge_commit:
        await merging.bring_along(worktree.repository, one.branch, Step(one.merge_from, one.merge_commit))


async def keep_on_branch(one: Workspace, worktree: Worktree, base: str) -> None:
    """The same before others get the branch; OtherBranch if they would miss what was done."""
    kept = await keep(one, worktree)
    if kept is not None and (await worktree.strays(one.branch, base) or kept.branch != one.branch):
        raise OtherBranch(
            f"Another branch than {one.branch} is checked out in {worktree.path}, or none, with work of its own.",
            f"Bring it onto {one.branch} there (git switch {one.branch}, git merge), and try again.",
        )


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Again, while somebody else's git holds a lock."""
    for pause in _PAUSES:
        try:
            return await work()
        except RepositoryLocked:
            await asyncio.sleep(pause)
    return await work()


async def let_end(one: Workspace) -> None:
    """Wait for what a killed process has left running; only what does not end is killed."""
    until = asyncio.get_running_loop().time() + _ORPHAN_SECONDS
    while await asyncio.to_thread(tree.Tree(marker(one)).members):
        if asyncio.get_running_loop().time() > until:
            await asyncio.to_thread(sweep.kill_marked, marker(one))
            return
        await asyncio.sleep(0.05)
