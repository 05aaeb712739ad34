"""What a branch begins from: the work of several brought together in one commit, without a working tree."""

from collections.abc import Sequence

from moot.core.records import record
from moot.workspaces import merging
from moot.workspaces.errors import GitFailed, NeedsMissing
from moot.workspaces.outcomes import Conflict
from moot.workspaces.repository import Repository

_SHOWN = 10


@record
class Strand:
    """A branch, as far as it has come."""

    branch: str
    tip: str


@record
class Missing:
    """A branch that is not, or not all of it, in what is begun."""

    branch: str
    reason: str
    conflicts: tuple[Conflict, ...] = ()


@record
class Beginning:
    commit: str
    missing: tuple[Missing, ...] = ()


async def joined(repository: Repository, strands: Sequence[Strand], branch: str) -> Beginning:
    """One commit with all of them: the first one for sure, and each of the others unless it is in conflict with those
    before it."""
    commit = strands[0].tip
    missing: list[Missing] = []
    for one in strands[1:]:
        try:
            found = await merging.join(repository, commit, one.tip, f"Bring {one.branch} into {branch}")
        except GitFailed as error:  # histories that have nothing in common, say
            missing.append(Missing(one.branch, error.fact))
            continue
        if isinstance(found, str):
            commit = found
        else:
            missing.append(in_conflict(one, found))
    return Beginning(commit, tuple(missing))


def in_conflict(strand: Strand, found: tuple[Conflict, ...]) -> Missing:
    files = ", ".join(each.file for each in found[:_SHOWN])
    return Missing(strand.branch, f"it changes what others have changed, too: {files}", found)


async def compared(repository: Repository, tip: str, strands: Sequence[Strand]) -> tuple[Missing, ...]:
    """Which of them a branch is without that was there before."""
    without = [one for one in strands if not await repository.contains(one.tip, tip)]
    return tuple(Missing(one.branch, "the branch was there before, and is used as it is") for one in without)


def told(missing: Sequence[Missing]) -> NeedsMissing | None:
    """For whoever gets the worktree."""
    if not missing:
        return None
    listed = "; ".join(f"{one.branch} ({one.reason})" for one in missing[:_SHOWN])
    more = f" and {len(missing) - _SHOWN} more" * (len(missing) > _SHOWN)
    return NeedsMissing(
        f"Not brought into the worktree, though the task builds on it: {listed}{more}.",
        "Look at it with git diff HEAD...BRANCH; bring it in with git merge BRANCH, solve it there and commit.",
    )
