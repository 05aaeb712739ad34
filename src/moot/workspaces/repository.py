"""A repository as workspaces see it: where it is, what is checked out where, and which branches there are."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from moot.core.records import record
from moot.workspaces import branches, git
from moot.workspaces.errors import (
    BranchNotFound,
    BranchTaken,
    DetachedHead,
    RepositoryElsewhere,
    RepositoryLocked,
    UnbornBranch,
)
from moot.workspaces.git import Git

HEADS = "refs/heads/"
NONE = ""  # in place of the old commit of a branch: it must not be there
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer")


@record
class Checkout:
    """A working tree of the repository, whoever made it."""

    path: Path
    branch: str | None  # None: detached, or bare
    of: Path | None = None  # git's own folder for it; None: that of the repository


@record
class Repository:
    git: Git
    top: Path  # of the working tree that was asked for
    common: Path  # what all working trees share

    @property
    def admin(self) -> Path:
        """Where git keeps what it knows of linked working trees."""
        return self.common / "worktrees"

    async def checkouts(self) -> list[Checkout]:
        listed = (await self.git.run("worktree", "list", "--porcelain", "-z")).out
        folders = dict(_folders(self.admin))
        found = (_checkout(record, folders) for record in listed.split(b"\0\0"))
        return [one for one in found if one is not None]

    async def tip(self, branch: str) -> str:
        """BranchNotFound if there is none."""
        found = await self.git.commit_of(HEADS + branch)
        if found is None:
            raise BranchNotFound(f"There is no branch {branch!r} in {self.top}.", "See git branch.")
        return found

    async def base(self, wanted: str) -> tuple[str, str]:
        """The branch that work begins from and comes back to, and its commit."""
        branch = wanted or await self._checked_out()
        commit = await self.git.commit_of(HEADS + branch)
        if commit is not None:
            return branch, commit
        if await self.git.commit_of("HEAD") is None:
            raise UnbornBranch(f"{self.top} has no commit yet.", "Make a first one: git commit --allow-empty -m Begin")
        raise BranchNotFound(
            f"There is no branch {branch!r} in {self.top}.", "Name another as base_branch; see git branch."
        )

    async def _checked_out(self) -> str:
        found = await self.git.run("symbolic-ref", "--quiet", "--short", "HEAD", codes=(0, 1))
        if found.code:
            raise DetachedHead(f"No branch is checked out in {self.top}.", "Check one out, or name the base_branch.")
        return found.text

    async def has_branch(self, branch: str) -> bool:
        """BranchTaken if there is none, but one that cannot be beside it on every file system."""
        names = (await self.git.run("for-each-ref", "--format=%(refname:lstrip=2)%00", "refs/heads")).parts
        found = [name.strip("\n") for name in names]
        if branch in found:
            return True
        folded = branches.key(branch)
        for name in found:
            other = branches.key(name)
            if other == folded or other.startswith(f"{folded}/") or folded.startswith(f"{other}/"):
                raise BranchTaken(f"The branch {branch!r} cannot be made beside {name!r}.", "Choose another name.")
        return False

    async def contains(self, ancestor: str, commit: str) -> bool:
        return await self.git.says("merge-base", "--is-ancestor", ancestor, commit)

    async def diff(self, base: str, other: str) -> bytes:
        """What came from where the base and its branch parted to the other, as a patch; no program takes part in it."""
        asked = ("--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--ignore-submodules=dirty")
        return (await self.git.run("diff", *asked, base, other, "--")).out

    async def drop(self, branch: str, homes: Sequence[str], start: str | None = None) -> bool:
        """Take a branch away, if nothing is lost with it and nobody has it checked out: all that is on it is on one of
        its homes, or it is still where it started and others have what that was made of."""
        tip = await self.git.commit_of(HEADS + branch)
        if tip is None or not (await self.has(homes, tip) or (tip == start and await self._is_elsewhere(branch))):
            return False
        if any(one.branch == branch for one in await self.checkouts()) or branch in rebased(self.common):
            return False
        await self.git.run("update-ref", "-d", HEADS + branch, tip)
        return True

    async def has(self, homes: Sequence[str], commit: str) -> bool:
        """Whether the commit is on one of these branches; those that are gone have nothing."""
        tips = [await self.git.commit_of(HEADS + branch) for branch in homes]
        return any([await self.contains(commit, tip) for tip in tips if tip is not None])

    async def _is_elsewhere(self, branch: str) -> bool:
        """Whether all that was done on a branch is on others, too; that it was merged there counts for nothing."""
        others = (f"--exclude={branch}", "--branches", "--tags", "--remotes")
        asked = ("--no-merges", "--max-count=1", HEADS + branch, "--not", *others)
        return not (await self.git.run("rev-list", *asked)).out

    async def move(self, branch: str, new: str, old: str, why: str) -> bool:
        """Point the branch to a commit, if it still points to the old one."""
        moved = await self.git.run("update-ref", "-m", why, HEADS + branch, new, old, codes=(0, 1, 128))
        if moved.code == 0:
            return True
        if (await self.git.commit_of(HEADS + branch) or NONE) == old:  # something else is wrong: let it say what
            await self.git.run("update-ref", "-m", why, HEADS + branch, new, old)
            return True
        return False


async def found(folder: Path, marker: str, within: Path | None = None) -> Repository:
    """The repository that a folder is in. One that must be `within` a project is the project's own, or lies below."""
    if not folder.is_dir():
        raise git.NotARepository(f"{folder} is no folder.", "Name a repository with repo_path.")
    opened = await git.at(folder, marker)
    asked = ("--path-format=absolute", "--show-toplevel", "--git-common-dir")
    lines = (await opened.run("rev-parse", *asked)).text.split("\n")
    repository = Repository(await opened.elsewhere(Path(lines[0])), Path(lines[0]), Path(lines[-1]))
    if within is not None and not await _belongs(repository, within, marker):
        raise RepositoryElsewhere(
            f"The repository {repository.top} does not belong to the project {within}.",
            "Name the project's own, or one below it; only the person may name others.",
        )
    return repository


async def _belongs(repository: Repository, project: Path, marker: str) -> bool:
    root = Path(os.path.realpath(project))
    if Path(os.path.realpath(repository.top)).is_relative_to(root):
        return Path(os.path.realpath(repository.common)).is_relative_to(root) or await _is_own(repository, root, marker)
    return await _is_own(repository, root, marker)


async def _is_own(repository: Repository, root: Path, marker: str) -> bool:
    try:
        own = await found(root, marker)
    except git.NotARepository:
        return False
    return own.common == repository.common


def under_way(git_folder: Path) -> str | None:
    """What somebody has begun there and not ended yet."""
    return next((name for name in _UNDER_WAY if (git_folder / name).exists()), None)


def locked(where: Path) -> RepositoryLocked:
    return RepositoryLocked(
        f"Another git is at work in {where}: there is an index.lock.",
        "Wait until it is done; if none runs, remove that file.",
    )


def rebased(common: Path) -> Iterator[str]:
    """Branches that are being rebased in some working tree: they are not checked out, and yet in use."""
    for folder in (common, *(common / "worktrees").glob("*")):
        for name in ("rebase-merge", "rebase-apply"):
            head = folder / name / "head-name"
            if head.is_file():
                yield head.read_text(encoding="utf-8", errors="surrogateescape").strip().removeprefix(HEADS)


def _folders(admin: Path) -> Iterator[tuple[Path, Path]]:
    """git's own folders by the worktree that each is for. What lies in the worktree itself may say something else."""
    for folder in admin.glob("*"):
        with suppress(OSError, UnicodeDecodeError):
            yield Path((folder / "gitdir").read_text(encoding="utf-8").strip()).parent, folder


def _checkout(record: bytes, folders: Mapping[Path, Path]) -> Checkout | None:
    said = {name: value for part in record.split(b"\0") for name, _, value in (part.partition(b" "),)}
    path = said.get(b"worktree")
    if path is None or b"bare" in said:
        return None
    branch = said.get(b"branch")
    name = None if branch is None else branch.decode(errors="surrogateescape").removeprefix(HEADS)
    where = Path(os.fsdecode(path))
    return Checkout(where, name, folders.get(where))
