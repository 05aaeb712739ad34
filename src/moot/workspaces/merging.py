"""Merging a branch back: computed without a working tree, committed by comparing and setting the base branch, and then
brought along where that branch is checked out.

Nothing is changed before it is certain that both succeed: what somebody has not committed there is never overwritten.
"""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from moot.core.records import record
from moot.workspaces import repository as repositories
from moot.workspaces.errors import BaseBusy, BaseMoved, CheckoutBehind, FiltersNeeded, GitFailed, LocalChanges
from moot.workspaces.git import Git
from moot.workspaces.outcomes import Conflict, Step
from moot.workspaces.repository import Checkout, Repository

_TRIES = 8
_SECONDS = 900.0
_SHOWN = 10
_OWN_INDEX = "moot-left"


@record
class Merge:
    """What is to be merged, and what the commit says if one is needed."""

    branch: str
    base: str
    message: str


@record
class _Change:
    """A file that a step changes: mode and object before and after, zeros where it is not there."""

    name: str
    old: tuple[str, str]
    new: tuple[str, str]


Intend = Callable[[Step], Awaitable[None]]  # writes down what is about to happen


async def merge(repository: Repository, wanted: Merge, intend: Intend) -> Step | tuple[Conflict, ...]:
    """Move the base branch, or tell what is in the way. If somebody else moves it meanwhile, it is computed again. The
    files of whoever has it checked out are for `bring_along`."""
    for _ in range(_TRIES):
        found = await _computed(repository, wanted)
        if not isinstance(found, Step):
            return found
        if found.old == found.new:
            return found
        where = await _checked_out(repository, wanted.base)
        for one in where:
            await _check(repository, one, found)
        await intend(found)
        if await repository.move(wanted.base, found.new, found.old, f"moot: merge {wanted.branch}"):
            return found
    raise BaseMoved(f"{wanted.base} was changed {_TRIES} times meanwhile.", "Try again when it is quieter.")


async def bring_along(repository: Repository, base: str, step: Step) -> None:
    """The files of whoever has the base branch checked out. Done again, it changes nothing."""
    for one in await _checked_out(repository, base):
        git = await repository.git.elsewhere(one.path, one.of)
        tip = await repository.tip(base)
        left = step if tip == step.new else await _left(git, step, tip)
        if left is None:
            continue
        try:
            await _read_tree(git, left)
        except GitFailed:
            await _finish(git, left)


async def _left(git: Git, step: Step, tip: str) -> Step | None:
    """What is still to be brought along of a step after which others were taken: from what the index has of it, to
    where the branch is now. Others bring along their own files only."""
    staged = (await git.run("ls-files", "-z", "--stage")).parts
    there = {name: tuple(meta.split(" ")[:2]) for meta, _, name in (line.partition("\t") for line in staged)}
    changes = await _changes(git, step)
    behind = [one for one in changes if there.get(one.name) == (one.old if one.old[1].strip("0") else None)]
    if not behind:
        return None
    variables = {"GIT_INDEX_FILE": str(Path(await git.line("rev-parse", "--absolute-git-dir")) / _OWN_INDEX)}
    try:
        await git.run("read-tree", tip, variables=variables)
        listed = "".join(f"{' '.join(one.old)}\t{one.name}\0" for one in behind).encode(errors="surrogateescape")
        await git.run("update-index", "-z", "--index-info", stdin=listed, variables=variables)
        return Step((await git.run("write-tree", variables=variables)).text, tip)
    finally:
        Path(variables["GIT_INDEX_FILE"]).unlink(missing_ok=True)


async def _finish(git: Git, step: Step) -> None:
    """Where git was killed half-way some files are there already, and the index does not know it."""
    await _note_what_is_there(git, step)
    try:
        await _read_tree(git, step)
    except GitFailed as error:
        raise CheckoutBehind(
            f"The branch is merged, but its files in {git.folder} are not brought along: {error.fact}",
            f"Run there: git read-tree -m -u {step.old} {step.new}",
        ) from error


async def _note_what_is_there(git: Git, step: Step) -> None:
    """In the index: the files that are as the merge wants them, whoever wrote them."""
    entries: list[str] = []
    for one in await _changes(git, step):
        name, (mode, oid) = one.name, one.new
        path = git.folder / name
        if path.is_symlink() or path.is_dir():
            continue
        found = await git.line("hash-object", "--", name) if path.is_file() else ""
        if found == oid:
            entries.append(f"{mode} {oid}\t{name}")
        elif not found and not oid.strip("0"):
            entries.append(f"0 {oid}\t{name}")
    listed = "".join(f"{entry}\0" for entry in entries).encode(errors="surrogateescape")
    await git.run("update-index", "-z", "--index-info", stdin=listed)


async def _changes(git: Git, step: Step) -> list[_Change]:
    asked = ("-r", "-z", "--no-renames", "--no-abbrev", step.old, step.new)
    told = (await git.run("diff-tree", *asked)).parts
    parts = ((name, meta.lstrip(":").split(" ")) for meta, name in zip(told[::2], told[1::2], strict=True))
    return [_Change(name, (found[0], found[2]), (found[1], found[3])) for name, found in parts]


async def _computed(repository: Repository, wanted: Merge) -> Step | tuple[Conflict, ...]:
    base, tip = await repository.tip(wanted.base), await repository.tip(wanted.branch)
    found = await join(repository, base, tip, wanted.message)
    return Step(base, found) if isinstance(found, str) else found


async def join(repository: Repository, one: str, other: str, message: str) -> str | tuple[Conflict, ...]:
    """A commit that has both, or the files that both have changed. No branch is moved."""
    if await repository.contains(other, one):
        return one
    if await repository.contains(one, other):
        return other
    merged = await repository.git.run(
        "merge-tree", "--write-tree", "-z", "--messages", one, other, codes=(0, 1), seconds=_SECONDS
    )
    tree, _, rest = merged.out.partition(b"\0")
    if merged.code:
        return _conflicts(rest)
    parents = ("-p", one, "-p", other)
    return await repository.git.line("commit-tree", "--no-gpg-sign", *parents, "-m", message, tree.decode("ascii"))


def _conflicts(rest: bytes) -> tuple[Conflict, ...]:
    """`<mode> <object> <stage>\\t<file>` each, an empty part, then messages: a count, that many paths, kind, words."""
    staged, _, told = rest.partition(b"\0\0")
    found: dict[str, str] = {}
    parts = told.split(b"\0")
    place = 0
    while place < len(parts) and parts[place].isdigit():
        count = int(parts[place])
        paths, kind = parts[place + 1 : place + 1 + count], parts[place + 1 + count].decode(errors="replace")
        if kind.startswith("CONFLICT"):
            named = kind.removeprefix("CONFLICT").strip(" ()") or "content"
            found |= {_shown(path): named for path in paths if _shown(path) not in found}
        place += count + 3
    files = dict.fromkeys(_shown(part.partition(b"\t")[2]) for part in staged.split(b"\0") if b"\t" in part)
    return tuple(Conflict(file, found.get(file, "content")) for file in files) or (Conflict("", "unknown"),)


def _shown(path: bytes) -> str:
    return path.decode(errors="replace")


async def _checked_out(repository: Repository, branch: str) -> list[Checkout]:
    if branch in repositories.rebased(repository.common):
        raise BaseBusy(f"{branch} is being rebased.", "Finish that, or give it up with git rebase --abort.")
    return [one for one in await repository.checkouts() if one.branch == branch and one.path.is_dir()]


async def _check(repository: Repository, where: Checkout, step: Step) -> None:
    """Whether the files could be brought along, without touching one."""
    git = await repository.git.elsewhere(where.path, where.of)
    own = Path(await git.line("rev-parse", "--absolute-git-dir"))
    if (what := repositories.under_way(own)) is not None:
        raise BaseBusy(
            f"Something is under way in {where.path} ({what}).", "Finish it, or give it up, and merge again."
        )
    if (own / "index.lock").exists():
        raise repositories.locked(where.path)
    await _check_filters(git, step)
    there = [name for name in await _changed(git, step, "--diff-filter=A") if _is_in_the_way(where.path, name)]
    if there:
        raise _would_lose(where.path, ", ".join(there[:_SHOWN]))
    try:
        await _read_tree(git, step, "--dry-run")
    except GitFailed as error:
        raise _would_lose(where.path, error.fact) from error


async def _changed(git: Git, step: Step, *options: str) -> list[str]:
    asked = ("-r", "-z", "--name-only", "--no-renames", *options)
    return (await git.run("diff-tree", *asked, step.old, step.new)).parts


async def _check_filters(git: Git, step: Step) -> None:
    """Files that a filter writes would come out raw, because moot runs none."""
    if not git.has_filters:
        return
    names = b"\0".join(name.encode(errors="surrogateescape") for name in await _changed(git, step))
    told = (await git.run("check-attr", "-z", "--stdin", "filter", stdin=names)).parts
    filtered = [
        file for file, value in zip(told[::3], told[2::3], strict=True) if value not in ("unspecified", "unset")
    ]
    if filtered:
        raise FiltersNeeded(
            f"Filters of the repository write {', '.join(filtered[:_SHOWN])}, and moot runs none of them.",
            "Merge with git itself, then say so: workspace_update with status merged.",
        )


def _is_in_the_way(top: Path, name: str) -> bool:
    """Ignored files, too: git would overwrite them."""
    path = top / name
    return os.path.lexists(path) or any(one.is_file() or one.is_symlink() for one in _between(top, path))


def _between(top: Path, path: Path) -> list[Path]:
    return [one for one in path.parents if one != top and top in one.parents]


def _would_lose(where: Path, what: str) -> LocalChanges:
    return LocalChanges(
        f"Work that is not committed in {where} would be overwritten: {what}",
        "Commit it there, or move it away, and merge again.",
    )


async def _read_tree(git: Git, step: Step, *options: str) -> None:
    # Not quietly: it would not say that somebody else holds the index.
    await git.run("update-index", "--refresh", codes=(0, 1))
    await git.run("read-tree", "-m", "-u", *options, step.old, step.new, seconds=_SECONDS)
