"""Keeping what somebody has not committed: everything in a worktree but ignored files becomes a commit of its branch.

What was staged and changed again since is kept as well, in a commit before it. Where another branch is checked out, or
none, the commit gets a branch of its own: nobody else's is changed.
"""

import os
import shutil
from pathlib import Path

from moot.core.records import record
from moot.workspaces.errors import WorkInside
from moot.workspaces.git import Git
from moot.workspaces.repository import HEADS, NONE, Repository

_REMOVED_LATER = "moot-index"
_UNTRACKED = ("--others", "--exclude-standard")


@record
class Kept:
    commit: str | None  # None: there was nothing to commit
    branch: str  # where it is


@record
class Owner:
    """Whose work is kept, and where it belongs."""

    name: str  # of the agent
    branch: str
    rescue: str  # the branch to be made where another is checked out
    base: str  # the commit to go on from where the branch is gone


async def keep(repository: Repository, git: Git, owner: Owner, *, is_leaving: bool) -> Kept:
    """Commit what is there. Of a worktree that `is_leaving` the index stays as it is, so that no lock holds it up."""
    variables = await _own_index(git) if is_leaving else {}
    try:
        return await _keep(repository, git, owner, variables)
    finally:
        if is_leaving:
            Path(variables["GIT_INDEX_FILE"]).unlink(missing_ok=True)


async def tree(git: Git) -> str:
    """All that is there, committed or not, as git sees it; nothing is committed."""
    variables = await _own_index(git)
    try:
        await _stage_all(git, variables)
        return (await git.run("write-tree", variables=variables)).text
    finally:
        Path(variables["GIT_INDEX_FILE"]).unlink(missing_ok=True)


async def strays(repository: Repository, git: Git, branch: str, base: str) -> bool:
    """Whether another branch is checked out, or none, with commits that are neither on this one nor on its base."""
    tip = await repository.tip(branch)
    where = await git.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1))
    if where.text == HEADS + branch or await git.commit_of("HEAD") is None:
        return False
    known = (tip, HEADS + base, "--remotes", "--tags")
    return bool((await git.run("rev-list", "--max-count=1", "HEAD", "--not", *known)).out)


async def inside(git: Git) -> WorkInside | None:
    """Repositories in a worktree: what is in them is in no commit of ours."""
    if not (found := await _repositories(git)):
        return None
    return WorkInside(
        f"{git.folder} holds a repository of its own: {', '.join(found[:5])}.",
        "Take out what you need of it, and remove it there.",
    )


async def _repositories(git: Git) -> list[str]:
    nested = [one for one in (await git.run("ls-files", "-z", *_UNTRACKED)).parts if one.endswith("/")]
    staged = (await git.run("ls-files", "-z", "--stage")).parts
    links = [line.partition("\t")[2] for line in staged if line.startswith("160000 ")]
    replaced = [".git"] if (git.folder / ".git").is_dir() else []
    return [*replaced, *nested, *(one for one in links if os.path.lexists(git.folder / one / ".git"))]


async def _keep(repository: Repository, git: Git, owner: Owner, variables: dict[str, str]) -> Kept:
    where = await git.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1))
    head = await git.commit_of("HEAD")
    is_own = where.text == HEADS + owner.branch and head is not None
    parent = head or await _last(git) or owner.base
    commit = parent
    for what, tree in await _trees(git, parent, variables):
        words = ("-m", f"moot: {what} of {owner.name}")
        commit = await git.line("commit-tree", "--no-gpg-sign", "-p", commit, *words, tree)
    is_lost = not is_own and not await _is_reachable(repository, commit)
    if commit == parent and not is_lost:
        is_rescued = not is_own and await _is_on(repository, owner.rescue, commit)
        return Kept(None, owner.rescue if is_rescued else owner.branch)
    branch = owner.branch if is_own else owner.rescue
    old = parent if is_own else await repository.git.commit_of(HEADS + branch) or NONE
    await git.run("update-ref", "-m", "moot: keep uncommitted work", HEADS + branch, commit, old)
    return Kept(commit, branch)


async def _trees(git: Git, head: str, variables: dict[str, str]) -> list[tuple[str, str]]:
    """What there is to commit. Nothing that was committed like this before: a crash may have come in between."""
    known = [await _tree_of(git, head), await _tree_of(git, f"{head}^")]
    unmerged = (await git.run("ls-files", "-z", "--unmerged", variables=variables)).out
    staged = None if unmerged else (await git.run("write-tree", variables=variables)).text
    await _stage_all(git, variables)
    every = (await git.run("write-tree", variables=variables)).text
    found = [] if staged is None or staged in (every, *known) else [("staged work", staged)]
    if found or every != known[0]:
        found.append(("uncommitted work", every))
    return found


async def _tree_of(git: Git, commit: str) -> str | None:
    found = await git.run("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}", codes=(0, 1, 128))
    return found.text if found.code == 0 else None


async def _stage_all(git: Git, variables: dict[str, str]) -> None:
    """As `git add --all` would, without starting another git in every submodule."""
    if variables:
        await _unhide(git, variables)
    changed = await git.run("diff-files", "-z", "--name-only", "--ignore-submodules=dirty", variables=variables)
    others = await git.run("ls-files", "-z", *_UNTRACKED, variables=variables)
    names = [one for one in (*changed.out.split(b"\0"), *others.out.split(b"\0")) if one and not one.endswith(b"/")]
    if names:
        listed = b"\0".join(dict.fromkeys(names)) + b"\0"
        asked = ("--add", "--remove", "--replace", "-z", "--stdin")
        await git.run("update-index", *asked, stdin=listed, variables=variables)


async def _unhide(git: Git, variables: dict[str, str]) -> None:
    """Files that git was told not to look at, and that are there."""
    told = (await git.run("ls-files", "-v", "-z", variables=variables)).parts
    assumed = [line[2:] for line in told if line[0].islower()]
    skipped = [line[2:] for line in told if line[0] in "Ss" and os.path.lexists(git.folder / line[2:])]
    for option, names in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
        if names:
            listed = "".join(f"{name}\0" for name in names).encode(errors="surrogateescape")
            await git.run("update-index", option, "-z", "--stdin", stdin=listed, variables=variables)


async def _own_index(git: Git) -> dict[str, str]:
    folder = Path(await git.line("rev-parse", "--absolute-git-dir"))
    copied = folder / _REMOVED_LATER
    if (folder / "index").exists():
        shutil.copyfile(folder / "index", copied)
    else:
        copied.unlink(missing_ok=True)
    return {"GIT_INDEX_FILE": str(copied)}


async def _last(git: Git) -> str | None:
    """The commit that was checked out last, where its branch was deleted meanwhile."""
    log = Path(await git.line("rev-parse", "--absolute-git-dir")) / "logs" / "HEAD"
    if not log.is_file():
        return None
    words = log.read_bytes().rstrip().rsplit(b"\n", 1)[-1].split(b" ")
    return await git.commit_of(words[1].decode(errors="replace")) if len(words) > 1 else None


async def _is_on(repository: Repository, branch: str, commit: str) -> bool:
    tip = await repository.git.commit_of(HEADS + branch)
    return tip is not None and await repository.contains(commit, tip)


async def _is_reachable(repository: Repository, commit: str) -> bool:
    named = ("--count=1", f"--contains={commit}", "refs/heads", "refs/tags", "refs/remotes")
    return bool((await repository.git.run("for-each-ref", *named)).out)
