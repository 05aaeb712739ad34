"""Worktrees on disk: made, mended and removed, each under the id of its workspace.

git can be killed half-way: it then leaves a folder, its own note about it, or both, and `git worktree prune` does not
see that. So whatever carries the id of a workspace is put in order here, and nothing else is touched.
"""

import shutil
from pathlib import Path

from moot.core.ids import WorkspaceId
from moot.core.records import record
from moot.workspaces import keeping
from moot.workspaces.errors import WorkInside
from moot.workspaces.git import Git
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
    def note(self) -> Path:
        """What git knows of it. Who works in it cannot change that by what is in the worktree."""
        return self.repository.admin / self.id

    @property
    def is_there(self) -> bool:
        return self.path.is_dir() and not self.path.is_symlink() and (self.note / "HEAD").is_file()

    async def git(self, folder: Path | None = None) -> Git:
        return await self.repository.git.elsewhere(folder or self.path, self.note)

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
        await (await self.git()).run("read-tree", "--reset", "-u", "HEAD", seconds=_SECONDS)

    async def keep(self, owner: Owner, *, is_leaving: bool = False) -> Kept:
        """Commit what is there and not committed yet; of one that `is_leaving` whatever lock there is."""
        return await keeping.keep(self.repository, await self.git(), owner, is_leaving=is_leaving)

    async def inside(self) -> WorkInside | None:
        """What it holds that no commit can keep."""
        return await keeping.inside(await self.git()) if self.is_there else None

    async def strays(self, branch: str, base: str) -> bool:
        """Whether work is checked out in it that is not on its branch."""
        return await keeping.strays(self.repository, await self.git(), branch, base)

    async def tree(self) -> str:
        """All that is there, committed or not."""
        return await keeping.tree(await self.git())

    async def remove(self, owner: Owner) -> Kept | None:
        """Commit what is there, then take it away; None if it was not there any more. WorkInside if it holds what no
        commit can keep."""
        kept = None
        if self.is_there:
            git = await self.git()
            if (inside := await keeping.inside(git)) is not None:
                raise inside
            kept = await keeping.keep(self.repository, git, owner, is_leaving=True)
        elif self.has_files:
            raise WorkInside(
                f"git knows nothing of {self.path} any more, and there are files in it.",
                "Take out what you need, and remove the folder.",
            )
        if self.grounds.put_aside(self.id) and kept is not None:
            # Again, for what somebody wrote in between.
            aside = await self.git(self.grounds.aside(self.id))
            more = await keeping.keep(self.repository, aside, owner, is_leaving=True)
            kept = more if more.commit is not None else kept
        self.grounds.delete_aside(self.id)
        self.forget()
        return kept

    @property
    def has_files(self) -> bool:
        if self.path.is_symlink() or not self.path.is_dir():
            return False
        return any(one.name != ".git" or one.is_dir() for one in self.path.iterdir())

    @property
    def is_begun(self) -> bool:
        """Whether somebody may have worked there. git writes its index after the last file: without one, whoever was
        to fill it was killed."""
        return self.has_files and (not self.is_there or (self.note / "index").is_file())

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
