"""A folder that others can write to as well: files in it are reached step by step from its open descriptor, and
nothing is followed on the way.

A link, a pipe, a device or a file with a second name is never read from and never written through; a link that is put
in place of a file or a folder at any moment is at most moved or replaced itself.
"""

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from moot.core.records import record

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # opening a pipe waits for nobody
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_FILES = 5000
_DEEPEST = 8
_PIECE = 1 << 18


class NotPlain(OSError):
    """What is there is not an ordinary file with one name, or is too large."""


class OutsideFolder(OSError):
    """A path that leads out of the folder, or to no file in it."""


@record
class Stamp:
    """What tells a file from a later state of itself."""

    device: int
    inode: int
    size: int
    modified: int  # in nanoseconds
    changed: int
    is_plain: bool


class Folder:
    """Made by `opened`."""

    def __init__(self, descriptor: int, *, is_private: bool = True) -> None:
        self._descriptor = descriptor
        self._mode = 0o600 if is_private else 0o666  # of new files
        self._folder_mode = 0o700 if is_private else 0o777

    def lock(self) -> bool:
        """Keep other processes that ask the same out until the folder is closed; False if one was faster."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @contextmanager
    def alone(self, name: str) -> Generator[bool]:
        """Keep others out who use this hidden file's name while the block runs; False if one was faster."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=self._descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        except BlockingIOError:
            is_alone = False
        try:
            yield is_alone
        finally:
            os.close(descriptor)

    def files(self) -> dict[str, Stamp]:
        """Everything in it that is not a folder and not hidden, by path."""
        found: dict[str, Stamp] = {}
        for path, stamp in self.walk(_is_hidden, _DEEPEST):
            if path.endswith("/"):
                continue
            found[path] = stamp
            if len(found) >= _MOST_FILES:
                break
        return found

    def walk(self, skips: Callable[[str], bool], deepest: int) -> Iterator[tuple[str, Stamp]]:
        """Everything in it but what has a name to be skipped, by path; that of a folder ends in a slash."""
        return _walk(self._descriptor, "", skips, deepest)

    def read(self, path: str, most: int) -> tuple[bytes, Stamp]:
        """The content of a plain file of at most so many bytes."""
        with self._parent(path) as (parent, name):
            descriptor = os.open(name, _READ, dir_fd=parent)
            try:
                found = os.fstat(descriptor)
                # The one name of what was opened must be this: another may have been given up in between.
                if reason := _not_plain(found) or _not_there(found, _status(parent, name)):
                    raise NotPlain(errno.EINVAL, reason, path)
                content = b"" if found.st_size > most else _read(descriptor, most + 1)
            finally:
                os.close(descriptor)
        if max(found.st_size, len(content)) > most:
            raise NotPlain(errno.EFBIG, f"it is larger than {most:,} bytes", path)
        return content, _stamp(found)

    def beginning(self, path: str, count: int) -> bytes | None:
        """The first bytes of a plain file; None if there is none."""
        try:
            with self._parent(path) as (parent, name):
                descriptor = os.open(name, _READ, dir_fd=parent)
        except OSError:
            return None
        try:
            return None if _not_plain(os.fstat(descriptor)) else _read(descriptor, count)
        finally:
            os.close(descriptor)

    def holds(self, path: str, content: bytes) -> bool:
        """Whether just this stands there, in a plain file."""
        there = self.stamp(path)
        if there is None or there.size != len(content):
            return False
        try:
            return self.read(path, len(content))[0] == content
        except OSError:
            return False

    def write(self, path: str, content: bytes, over: Stamp | None, *, is_durable: bool = True) -> Stamp | None:
        """Put the content in place whole, on disk before this returns unless it can be made again. None, and nothing
        done, if what is there is not what `over` says."""
        with self._parent(path, create=True) as (parent, name):
            if _look(parent, name) != over:
                return None
            beside = f".{secrets.token_hex(8)}"
            descriptor = os.open(beside, _NEW, self._mode, dir_fd=parent)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    self._keep_mode(parent, name, descriptor)
                    file.write(content)
                    file.flush()
                    if is_durable:
                        os.fsync(descriptor)
                if _look(parent, name) != over:
                    os.unlink(beside, dir_fd=parent)
                    return None
                os.rename(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(OSError):
                    os.unlink(beside, dir_fd=parent)
                raise
            if is_durable:
                os.fsync(parent)
            return _look(parent, name)

    def append(self, path: str, content: bytes, over: Stamp) -> Stamp | None:
        """Add to the end of a plain file. None, and nothing done, if it is not what `over` says."""
        with self._parent(path) as (parent, name):
            try:
                descriptor = os.open(name, _APPEND, dir_fd=parent)
            except OSError:  # gone, or a link by now
                return None
        with os.fdopen(descriptor, "ab") as file:
            if _stamp(os.fstat(descriptor)) != over or not over.is_plain:
                return None
            file.write(content)
            file.flush()
            return _stamp(os.fstat(descriptor))

    def link(self, name: str, target: str) -> None:
        """A link of this name, unless something is there already."""
        with suppress(FileExistsError):
            os.symlink(target, name, dir_fd=self._descriptor)

    def stamp(self, path: str) -> Stamp | None:
        """What is there now; None if nothing is."""
        try:
            with self._parent(path) as (parent, name):
                return _look(parent, name)
        except OSError:
            return None

    def move(self, path: str, to: str) -> bool:
        """Give whatever is there another name in the same folder; False if that name is taken."""
        with self._parent(path) as (parent, name):
            taken = _parts(to)[-1]
            if _look(parent, taken) is not None:
                return False
            os.rename(name, taken, src_dir_fd=parent, dst_dir_fd=parent)
            return True

    def remove(self, path: str, expected: Stamp) -> bool:
        """Away with it, and with folders that are empty then; False if it is not what was expected."""
        with self._parent(path) as (parent, name):
            if _look(parent, name) != expected:
                return False
            os.unlink(name, dir_fd=parent)
        folder = path.rpartition("/")[0]
        with suppress(OSError):
            while folder:
                with self._parent(folder) as (parent, name):
                    os.rmdir(name, dir_fd=parent)
                folder = folder.rpartition("/")[0]
        return True

    def _keep_mode(self, parent: int, name: str, descriptor: int) -> None:
        """What others may do with a file that is replaced, unless it is for us alone; a script stays one."""
        replaced = _status(parent, name) if self._mode != 0o600 else None
        if replaced is not None:
            os.fchmod(descriptor, stat.S_IMODE(replaced.st_mode) & 0o777)

    @contextmanager
    def _parent(self, path: str, *, create: bool = False) -> Generator[tuple[int, str]]:
        """The folder of a path, and its name in there."""
        *folders, name = _parts(path)
        here = os.dup(self._descriptor)
        try:
            for folder in folders:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(folder, self._folder_mode, dir_fd=here)
                below = os.open(folder, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
            yield here, name
        finally:
            os.close(here)


@contextmanager
def opened(above: Path, name: str, *, create: bool = False, is_private: bool = True) -> Generator[Folder | None]:
    """The folder of this name; None if it is not there. It must not be a link; what is above it may. In a private one
    nobody else may read what is written."""
    try:
        parent = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield None
        return
    try:
        if create:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=parent)
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        descriptor = None
    finally:
        os.close(parent)
    if descriptor is None:
        yield None
        return
    try:
        yield Folder(descriptor, is_private=is_private)
    finally:
        os.close(descriptor)


def _parts(path: str) -> list[str]:
    """Whatever the caller has checked: one wrong part, and any file of the user's could be replaced."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise OutsideFolder(errno.EINVAL, "not a plain path", path)
    return parts


def _not_plain(found: os.stat_result) -> str:
    """Why not; empty for an ordinary file with one name."""
    if stat.S_ISDIR(found.st_mode):
        return "it is a folder"
    if not stat.S_ISREG(found.st_mode):
        return "it is neither a file nor a folder"
    return "" if found.st_nlink == 1 else "it has another name elsewhere"


def _not_there(opened: os.stat_result, there: os.stat_result | None) -> str:
    is_same = there is not None and os.path.samestat(opened, there) and not _not_plain(there)
    return "" if is_same else "it was moved or replaced meanwhile"


def _read(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(descriptor, min(most, _PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _walk(descriptor: int, before: str, skips: Callable[[str], bool], deepest: int) -> Iterator[tuple[str, Stamp]]:
    for name in sorted(os.listdir(descriptor)):
        found = None if skips(name) else _status(descriptor, name)
        if found is None:
            continue
        if not stat.S_ISDIR(found.st_mode):
            yield before + name, _stamp(found)
            continue
        yield f"{before}{name}/", _stamp(found)
        if deepest > 1:
            with suppress(OSError):  # it is a link by now, or gone, or closed to us
                below = os.open(name, _FOLDER, dir_fd=descriptor)
                try:
                    yield from _walk(below, f"{before}{name}/", skips, deepest - 1)
                finally:
                    os.close(below)


def _look(parent: int, name: str) -> Stamp | None:
    found = _status(parent, name)
    return None if found is None else _stamp(found)


def _status(parent: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _stamp(found: os.stat_result) -> Stamp:
    is_plain = not _not_plain(found)
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, is_plain)
