"""Bringing into a worktree what is to be built on there: the branches of what its tasks need, as far as they are not
merged. A new one begins from them; into one that is there they are merged.

What is not committed there is committed first. What cannot be brought in is told to whoever gets the task, and stays
where it is.
"""

from collections.abc import Awaitable, Callable, Sequence

from moot.core.errors import MootError
from moot.core.records import record, replace
from moot.runner import upkeep
from moot.store.errors import StoreBusy, StoreUnavailable
from moot.tools.needed_work import Needed
from moot.workspaces import beginnings, merging
from moot.workspaces.beginnings import Beginning, Missing, Strand
from moot.workspaces.errors import RepositoryLocked
from moot.workspaces.merging import Merge
from moot.workspaces.outcomes import Step
from moot.workspaces.repository import HEADS
from moot.workspaces.workspaces import Workspace
from moot.workspaces.worktrees import Worktree

Intend = Callable[[Step | None], Awaitable[None]]


@record
class Site:
    """Where a worktree is to be made."""

    worktree: Worktree
    branch: str
    place: str  # the machine and the project


async def begin(site: Site, base: Strand, needed: Sequence[Needed], *, is_new: bool) -> Beginning:
    """Where its branch begins. What a task needs comes first, because it cannot do without; one that `is_new` not is
    left as it is."""
    strands, missing = await gathered(site, needed)
    repository = site.worktree.repository
    if is_new:
        found = await beginnings.joined(repository, [*strands, base], site.branch)
    else:
        tip = await repository.tip(site.branch)
        found = Beginning(base.tip, await beginnings.compared(repository, tip, strands))
    return replace(found, missing=(*missing, *found.missing))


async def merge(site: Site, one: Workspace, needed: Sequence[Needed], intend: Intend) -> tuple[Missing, ...]:
    """Into a branch that is worked on, before somebody goes on there; what could not be merged. `intend` writes down
    each step before it is taken, and None behind it."""
    strands, missing = await gathered(site, needed)  # before this one is held: others may need it at the same time
    async with site.worktree.grounds.alone(one.id):
        await upkeep.let_end(one)
        try:
            await upkeep.keep(one, site.worktree)
        except MootError as error:
            return (*missing, *(Missing(each.branch, error.fact) for each in strands))
        for each in strands:
            missing += await _merged(site, each, intend)
    return tuple(missing)


async def _merged(site: Site, strand: Strand, intend: Intend) -> list[Missing]:
    repository = site.worktree.repository
    wanted = Merge(strand.branch, site.branch, f"Bring {strand.branch} into {site.branch}")
    try:
        found = await upkeep.patiently(lambda: merging.merge(repository, wanted, intend))
        if not isinstance(found, Step):
            return [beginnings.in_conflict(strand, found)]
        await upkeep.patiently(lambda: merging.bring_along(repository, site.branch, found))
        await intend(None)
    except (StoreBusy, StoreUnavailable):
        raise
    except MootError as error:
        return [Missing(strand.branch, error.fact)]
    return []


async def gathered(site: Site, needed: Sequence[Needed]) -> tuple[list[Strand], list[Missing]]:
    """The branches of what is needed, with all that was done there, and what of it cannot be had."""
    strands: list[Strand] = []
    missing: list[Missing] = []
    for one in needed:
        strand, without = await _found(site, one)
        strands += [strand] if strand is not None else []
        missing += [without] if without is not None else []
    return strands, missing


async def _found(site: Site, needed: Needed) -> tuple[Strand | None, Missing | None]:
    one = needed.workspace
    if one.place not in ("", site.place):
        return None, Missing(one.branch, f"it is in {one.place}")
    if one.repo_path != str(site.worktree.repository.top):
        return None, None  # work on something else
    without = None if needed.is_worked_in else await _keep(site, one)
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
