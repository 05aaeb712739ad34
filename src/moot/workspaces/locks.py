"""Locks that a killed git has left in one of moot's worktrees, or on its branch: whoever works there next would be
refused for ever. Only those are removed that nobody can hold: no process is at work in there, and they are not new."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from moot.process.table import system
from moot.workspaces.repository import HEADS
from moot.workspaces.workspaces import Workspace
from moot.workspaces.worktrees import Worktree

_NEW_SECONDS = 1.0  # whoever has just made it may be about to appear
_OURS = ("index", "HEAD")  # of a worktree: no other has them


def may_be_left(folder: Path, one: Workspace) -> bool:
    """By what the worktree says of itself, which is quickly read and not to be relied on."""
    with suppress(OSError, UnicodeDecodeError):
        note = Path((folder / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip())
        return any(lock.exists() for lock in _locks(note, note.parents[1], one))
    return False


def release(worktree: Worktree, one: Workspace) -> bool:
    """Whether there was one that nobody holds."""
    left = [lock for lock in _locks(worktree.note, worktree.repository.common, one) if _is_old(lock)]
    if not left or _is_used(Path(os.path.realpath(worktree.path))):
        return False
    for lock in left:
        lock.unlink(missing_ok=True)
    return True


def _locks(note: Path, common: Path, one: Workspace) -> Iterator[Path]:
    for name in _OURS:
        yield note / f"{name}.lock"
    if one.is_branch_ours:
        yield common / f"{HEADS}{one.branch}.lock"


def _is_old(lock: Path) -> bool:
    with suppress(OSError):
        return time.time() - lock.lstat().st_mtime > _NEW_SECONDS
    return False


def _is_used(folder: Path) -> bool:
    """Whether anybody is at work in there; a person's editor, or an agent's shell, too."""
    return any(one is not None and one.is_relative_to(folder) for one in map(system.folder, system.pids()))
