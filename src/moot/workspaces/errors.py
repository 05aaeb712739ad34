"""Facts about workspaces, branches and repositories."""

from moot.core.errors import InvalidInput, MootError


class WorkspaceNotFound(MootError):
    code = "WORKSPACE_NOT_FOUND"


class WorkspaceClosed(MootError):
    """It is merged or abandoned, or its worktree is being removed."""

    code = "WORKSPACE_CLOSED"


class BranchRefused(InvalidInput):
    """No branch can have this name."""

    code = "BRANCH_REFUSED"


class BranchTaken(MootError):
    """Another workspace has it, or a name that cannot stand beside it."""

    code = "BRANCH_TAKEN"


class BranchNotFound(MootError):
    code = "BRANCH_NOT_FOUND"


class GitTooOld(MootError):
    code = "GIT_TOO_OLD"


class NotARepository(MootError):
    code = "NOT_A_REPOSITORY"


class BareRepository(MootError):
    """It has no files to work on."""

    code = "BARE_REPOSITORY"


class UnbornBranch(MootError):
    """There is no commit to begin from."""

    code = "UNBORN_BRANCH"


class DetachedHead(MootError):
    """No branch is checked out that work could come back to."""

    code = "DETACHED_HEAD"


class RepositoryElsewhere(MootError):
    """It does not belong to the project."""

    code = "REPOSITORY_ELSEWHERE"


class RepositoryUnsafe(MootError):
    """It belongs to another user."""

    code = "REPOSITORY_UNSAFE"


class RepositoryLocked(MootError):
    """Another git is at work there, or one was killed."""

    code = "REPOSITORY_LOCKED"


class DiskFull(MootError):
    code = "DISK_FULL"


class FolderUnsafe(MootError):
    """What moot would write to or remove lies elsewhere."""

    code = "FOLDER_UNSAFE"


class MergeConflict(MootError):
    """Both sides have changed the same; a person or an agent has to decide."""

    code = "MERGE_CONFLICT"


class LocalChanges(MootError):
    """What somebody has not committed yet would be overwritten."""

    code = "LOCAL_CHANGES"


class FiltersNeeded(MootError):
    """Files that only the repository's own programs can write would change in somebody's checkout."""

    code = "FILTERS_NEEDED"


class CheckoutBehind(MootError):
    """The branch is merged, and somebody's files are not brought along."""

    code = "CHECKOUT_BEHIND"


class BaseMoved(MootError):
    """The base branch was changed again and again meanwhile."""

    code = "BASE_MOVED"


class BaseBusy(MootError):
    """Somebody is in the middle of a merge or a rebase."""

    code = "BASE_BUSY"


class OtherBranch(MootError):
    """Work is checked out in the worktree that is not on its branch."""

    code = "OTHER_BRANCH"


class WorkInside(MootError):
    """There is work in the worktree that no commit can keep."""

    code = "WORK_INSIDE"


class SetupFailed(MootError):
    """The command that prepares a worktree went wrong."""

    code = "WORKSPACE_SETUP_FAILED"


class NeedsMissing(MootError):
    """The worktree of a task is without some of what the task needs."""

    code = "NEEDS_MISSING"


class NoRemote(MootError):
    """There is nothing to push to, or it is not plain to what."""

    code = "NO_REMOTE"


class GitFailed(MootError):
    code = "GIT_FAILED"


def of(code: str) -> type[MootError]:
    """The fact that has this code, as it was written down."""
    return next((one for one in _FACTS if one.code == code), GitFailed)


_FACTS: tuple[type[MootError], ...] = tuple(
    one for one in globals().copy().values() if isinstance(one, type) and issubclass(one, MootError)
)
