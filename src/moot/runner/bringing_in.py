"""Bringing into a new worktree what its task builds on: the branches of what it needs, as far as they are not merged.

What is not committed there is committed first. What cannot be brought in is told to whoever gets the task, and stays
where it is.
"""

from moot.core.errors import MootError
from moot.core.records import record, replace
from moot.runner import upkeep
from moot.store.errors import StoreBusy, StoreUnavailable
from moot.workspaces import beginnings
from moot.workspaces.beginnings import Beginning, Missing, Strand
from moot.workspaces.errors import RepositoryLocked
from moot.workspaces.repository import HEADS
from moot.workspaces.workspaces import Workspace
from moot.workspaces.worktrees import Worktree


@record
class Site:
    """Where a worktree is to be made."""

    worktree: Worktree
    branch: str
    base: Strand
    place: str  # the machine and the project


async def begin(site: Site, needed: list[Workspace], *, is_new: bool) -> Beginning:
    """Where its branch begins. What a task needs comes first, because it cannot do without; one that `is_new` not is
    left as it is."""
    strands: list[Strand] = []
    missing: list[Missing] = []
    for one in needed:
        strand, without = await _found(site, one)
        strands += [strand] if strand is not None else []
        missing += [without] if without is not None else []
    repository = site.worktree.repository
    if is_new:
        found = await beginnings.joined(repository, [*strands, site.base], site.branch)
    else:
        tip = await repository.tip(site.branch)
        found = Beginning(site.base.tip, await beginnings.compared(repository, tip, strands))
    return replace(found, missing=(*missing, *found.missing))


async def _found(site: Site, one: Workspace) -> tuple[Strand | None, Missing | None]:
    """The branch of something that is needed, with all that was done there, and what of it cannot be had."""
    if one.place not in ("", site.place):
        return None, Missing(one.branch, f"it is in {one.place}")
    if one.repo_path != str(site.worktree.repository.top):
        return None, None  # work on something else
    without = await _keep(site, one)
    tip = await site.worktree.repository.git.commit_of(HEADS + one.branch)
    if tip is None:
        return None, without or Missing(one.branch, "there is no such branch any more")
    return Strand(one.branch, tip), without


async def _keep(site: Site, one: Workspace) -> Missing | None:
    """Nobody else is at work on it meanwhile."""
    worktree = replace(site.worktree, id=one.id)
    try:
        async with worktree.grounds.alone(one.id):
            await upkeep.let_end(one)
            try:
                kept = await upkeep.keep(one, worktree)
            except RepositoryLocked:  # its index, for good if git was killed there
                kept = await worktree.keep(upkeep.owner(one), is_leaving=True)
    except (StoreBusy, StoreUnavailable):
        raise
    except MootError as error:
        return Missing(one.branch, f"what is not committed there is left out: {error.fact}")
    if kept is None or kept.commit is None or kept.branch == one.branch:
        return None
    return Missing(kept.branch, f"it was left in the worktree of {one.branch} with another branch checked out")
