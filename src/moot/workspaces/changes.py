"""What was done in a workspace, as a patch."""

from moot.workspaces.workspaces import Workspace
from moot.workspaces.worktrees import Worktree


async def made(one: Workspace, worktree: Worktree) -> bytes:
    """The branch, and what is not committed in its worktree, against its base and what it builds on."""
    repository = worktree.repository
    base, tip = await repository.tip(one.base_branch), await repository.tip(one.branch)
    parted = (await repository.git.run("merge-base", base, tip, codes=(0, 1))).text or base
    start = one.base_commit and await repository.git.commit_of(one.base_commit)
    if start and await repository.contains(parted, start) and await repository.contains(start, tip):
        parted = start
    other = await worktree.tree() if worktree.is_there else tip
    return await repository.diff(parted, other)
