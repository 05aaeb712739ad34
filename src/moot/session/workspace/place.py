"""The directory that tools are confined to. Files in it are reached without following anything."""

import errno
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from moot.core import folder
from moot.core.folder import Folder, Stamp
from moot.core.records import record
from moot.process.guardian import Guardian
from moot.session.workspace import paths
from moot.session.workspace.errors import FileRefused

MOST_BYTES = 10 << 20  # of one file that is read or written
DEEPEST = 40
_BEGINNING = 8_000  # bytes in which files that are not text give themselves away


@record
class Place:
    """`root` is itself no link; what it was reached by may have been one."""

    root: Path
    guardian: Guardian | None = None  # ends what was started here, should this process be killed
    orders: frozenset[str] = frozenset()  # paths of files that agents were read from, as `paths.fold` has them

    @contextmanager
    def opened(self, path: str) -> Generator[Folder]:
        """The folder of all; what goes wrong with the file at the path is told in words."""
        try:
            with folder.opened(self.root.parent, self.root.name, is_private=False) as found:
                if found is None:
                    raise FileRefused("The working directory is gone.", "Tell the person.")
                yield found
        except OSError as error:
            raise FileRefused(f"{path[:200]!r} cannot be used: {_why(error)}.", _remedy(error)) from error

    def read(self, path: str) -> tuple[bytes, Stamp]:
        with self.opened(path) as found:
            return found.read(path, MOST_BYTES)

    def write(self, path: str, content: bytes, over: Stamp | None) -> bool:
        """Put it in place whole; False, and nothing done, if what is there is not what `over` says."""
        with self.opened(path) as found:
            return found.write(path, content, over) is not None

    def stamp(self, path: str) -> Stamp | None:
        with self.opened(path) as found:
            return found.stamp(path)


def at(root: Path, guardian: Guardian | None = None, orders: Iterable[str] = ()) -> Place:
    return Place(root.resolve(), guardian, frozenset(map(paths.fold, orders)))


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:_BEGINNING]


def _why(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT:
            return "there is no such file"
        case errno.ELOOP:
            return "it is a link, and links are not followed"
        case errno.ENOTDIR:
            return "a part of it is not a folder, or is a link, and links are not followed"
        case errno.ENXIO:
            return "it is neither a file nor a folder"
        case _:
            return (error.strerror or str(error)).lower()


def _remedy(error: OSError) -> str:
    return "See file_list." if error.errno in (errno.ENOENT, errno.ENOTDIR) else ""
