"""Worktrees on disk: made, mended and removed, each under the id of its workspace.

git can be killed half-way: it then leaves a folder, its own note about it, or both, and `git worktree prune` does not
see that. So whatever carries the id of a workspace is put in order here, and nothing else is touched.
"""

import shutil
from pathlib import Path

from moot.core.ids import WorkspaceId
from moot.core.records import record
from moot.workspaces import keeping
from moot.workspaces.grounds import Grounds
from moot.workspaces.keeping import Kept, Owner
from moot.workspaces.repository import HEADS, Repository

_SECONDS = 1800.0


@record
class Worktree:
    """One of ours."""

    id: WorkspaceId
    repository: Repository
    grounds: Grounds

    @property
    def path(self) -> Path:
        return self.grounds.path(self.id)

    @property
    def is_there(self) -> bool:
        return (self.path / ".git").is_file()

    async def make(self, branch: str, commit: str) -> None:
        """Check out the branch, made from the commit if it is not there. Half of one from before is thrown away."""
        self.grounds.discard(self.id)
        self.forget()
        git = self.repository.git
        if await git.commit_of(HEADS + branch) is None:
            named = ("--no-track", "-b", branch, str(self.path), commit)
        else:
            named = (str(self.path), branch)
        await git.run("worktree", "add", "--quiet", "--no-checkout", "--no-guess-remote", *named)
        # Only now, because the configuration may say something else in there.
        there = await git.elsewhere(self.path)
        await there.run("read-tree", "--reset", "-u", "HEAD", seconds=_SECONDS)

    async def keep(self, owner: Owner) -> Kept:
        """Commit what is there and not committed yet."""
        return await keeping.keep(self.repository, self.path, owner, is_leaving=False)

    async def remove(self, owner: Owner) -> Kept | None:
        """Commit what is there, then take it away; None if it was not there any more. WorkInside if it holds what no
        commit can keep."""
        kept = None
        if self.is_there:
            await keeping.refuse_inside(await self.repository.git.elsewhere(self.path))
            kept = await keeping.keep(self.repository, self.path, owner, is_leaving=True)
        if self.grounds.put_aside(self.id) and kept is not None:
            # Again, for what somebody wrote in between.
            more = await keeping.keep(self.repository, self.grounds.aside(self.id), owner, is_leaving=True)
            kept = more if more.commit is not None else kept
        self.grounds.delete_aside(self.id)
        self.forget()
        return kept

    def forget(self) -> None:
        """git's note about it, whatever state that is in."""
        for note in self.repository.admin.glob(f"{self.id}*"):
            if note.is_dir() and not note.is_symlink() and self._is_ours(note):
                shutil.rmtree(note)

    def _is_ours(self, note: Path) -> bool:
        """By where it points; one that was never finished points nowhere, and by its name."""
        try:
            target = Path((note / "gitdir").read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError):
            return note.name == self.id
        return target.parent in (self.path, self.grounds.aside(self.id)) or not target.is_absolute()
