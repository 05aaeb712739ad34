"""Making a folder ready for worktrees: a repository, a first commit to begin from, and somebody who commits."""

from pathlib import Path

from moot.core.records import record
from moot.workspaces import git, pushing
from moot.workspaces.errors import NotARepository
from moot.workspaces.git import Git

_MARKER = "workspace-setup"
_BRANCH = "main"
_NAME, _EMAIL = "moot", "moot@localhost"


@record
class Prepared:
    """What was missing and is there now."""

    has_made_repository: bool
    committed: int | None  # files in the first commit; None: there was one
    has_set_identity: bool

    @property
    def is_new(self) -> bool:
        return self.has_made_repository or self.committed is not None or self.has_set_identity


@record
class Missing:
    """What keeps worktrees from being made."""

    fact: str
    is_for_person: bool = False  # preparing does not help: only the person knows what is meant


async def missing(folder: Path) -> Missing | None:
    """None if nothing is."""
    try:
        found = await git.at(folder, _MARKER)
    except NotARepository:
        return Missing("there is no git repository")
    if await found.commit_of("HEAD") is None:
        return Missing("the repository has no commit yet")
    is_detached = (await found.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1))).code == 1
    return Missing("no branch is checked out to begin from", is_for_person=True) if is_detached else None


async def remote(folder: Path) -> str:
    """Where branches of its repository are pushed to; NoRemote if that is not clear."""
    return await pushing.remote(await git.at(folder, _MARKER))


async def prepare(folder: Path) -> Prepared:
    """Done again, it finds everything there. What git ignores is not committed."""
    try:
        found, has_made = await git.at(folder, _MARKER), False
    except NotARepository:
        await Git(folder, _MARKER, {}).run("init", "--quiet", f"--initial-branch={_BRANCH}")
        found, has_made = await git.at(folder, _MARKER), True
    has_set = await _identify(found)
    committed = None
    if await found.commit_of("HEAD") is None:
        await found.run("add", "--all")
        committed = len((await found.run("ls-files", "-z")).parts)
        name, email = await found.line("config", "user.name"), await found.line("config", "user.email")
        by = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in
              (("NAME", name), ("EMAIL", email))}  # fmt: skip
        await found.run("commit", "--quiet", "--allow-empty", "-m", "Begin", variables=by)
    return Prepared(has_made, committed, has_set)


async def _identify(git: Git) -> bool:
    """So that everybody can commit, agents too; only where the person has said nothing."""
    has_set = False
    for key, value in (("user.name", _NAME), ("user.email", _EMAIL)):
        if not (await git.run("config", key, codes=(0, 1))).text:
            await git.run("config", "--local", key, value)
            has_set = True
    return has_set
