"""Where the worktrees of a project lie: in moot's own folder, each under the id of its workspace, through no link."""

import asyncio
import os
import platform
import shutil
import stat
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from moot.core import folder as folders
from moot.core.ids import WorkspaceId
from moot.core.records import record
from moot.workspaces.errors import FolderUnsafe, RepositoryLocked

_FOLDER = "worktrees"
_GONE = ".gone"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PAUSE = 0.05
_LOCK_SECONDS = 60.0


def place(root: Path) -> str:
    """The machine and the project where a worktree is: nobody else reaches it."""
    return f"{platform.node()}:{root}"


@record
class Grounds:
    own: Path  # moot's own folder in the project

    def path(self, id: WorkspaceId) -> Path:
        return self.own / _FOLDER / id

    def aside(self, id: WorkspaceId) -> Path:
        """Where a worktree waits for its removal."""
        return self.own / _FOLDER / f"{id}{_GONE}"

    def put_aside(self, id: WorkspaceId) -> bool:
        """Out of everybody's way in one step; False if it is not there."""
        self._delete(f"{id}{_GONE}")
        with self._opened() as here:
            try:
                os.rename(id, f"{id}{_GONE}", src_dir_fd=here, dst_dir_fd=here)
            except FileNotFoundError:
                return False
        return True

    def take_back(self, id: WorkspaceId) -> None:
        with self._opened() as here, suppress(FileNotFoundError):
            os.rename(f"{id}{_GONE}", id, src_dir_fd=here, dst_dir_fd=here)

    def delete_aside(self, id: WorkspaceId) -> None:
        """What was put aside, for good."""
        self._delete(f"{id}{_GONE}")

    def discard(self, id: WorkspaceId) -> None:
        """What was never finished, for good: nobody has worked there."""
        self._delete(id)
        self._delete(f"{id}{_GONE}")

    @asynccontextmanager
    async def alone(self, id: WorkspaceId, seconds: float = _LOCK_SECONDS) -> AsyncGenerator[None]:
        """Nobody else works on it while the block runs, in whatever process. Who is killed lets go of it."""
        until = asyncio.get_running_loop().time() + seconds
        while True:
            with self._opened() as here, folders.Folder(here).alone(f".{id}.lock") as is_alone:
                if is_alone:
                    yield
                    return
            if asyncio.get_running_loop().time() > until:
                raise RepositoryLocked(f"Somebody else is at work on {id}.", "Try again later.")
            await asyncio.sleep(_PAUSE)

    @contextmanager
    def _opened(self) -> Generator[int]:
        """The folder of all worktrees. A link in its place could lead what is removed anywhere."""
        try:
            above = os.open(self.own, _OPEN)
        except OSError as error:
            raise _unsafe(self.own, error) from error
        try:
            with suppress(FileExistsError):
                os.mkdir(_FOLDER, 0o700, dir_fd=above)
            here = os.open(_FOLDER, _OPEN, dir_fd=above)
        except OSError as error:
            raise _unsafe(self.own / _FOLDER, error) from error
        finally:
            os.close(above)
        try:
            yield here
        finally:
            os.close(here)

    def _delete(self, name: str) -> None:
        with self._opened() as here:
            try:
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
            except FileNotFoundError:
                return
            if stat.S_ISDIR(found.st_mode):
                _make_writable(here, name)
                shutil.rmtree(name, dir_fd=here)
            else:
                os.unlink(name, dir_fd=here)


def _make_writable(here: int, name: str) -> None:
    """Folders that their owner may not write in cannot be emptied."""
    for _, folders_in, _, descriptor in os.fwalk(name, dir_fd=here, onerror=None):
        for one in folders_in:
            with suppress(OSError):
                found = os.stat(one, dir_fd=descriptor, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode) and found.st_mode & 0o700 != 0o700:
                    os.chmod(one, 0o700, dir_fd=descriptor)


def _unsafe(folder: Path, error: OSError) -> FolderUnsafe:
    return FolderUnsafe(
        f"{folder} is no folder in which worktrees can be kept: {error.strerror}.",
        "It must be a folder of yours and no link.",
    )
