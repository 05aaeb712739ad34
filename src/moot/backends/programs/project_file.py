"""A file in the user's project that a program reads, lent to it while it runs: changed, and put back on every way out.

The user's own is moved aside, and a record says what stands in its place and for whom. So putting back is a rename: it
needs no room on a full disk, keeps a link a link, and nobody else can read a copy. After a kill the next user of the
file, or `recover`, puts it back. Several agents of one host share the change; a second host that would need another one
is refused.

Records are kept in the user's home. One in the project could have come with a repository, and would say what is to be
written over or removed. For the same reason no link is followed out of the project to write.
"""

import base64
import errno
import hashlib
import logging
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from moot.backends.programs import undoing
from moot.backends.programs.launch import CannotLaunch
from moot.core import json, records
from moot.core.errors import InvalidInput
from moot.process import identity
from moot.process.identity import ProcessIdentity

_ASIDE = ".moot-backup"  # the user's own file
_FRESH = ".moot-new"  # being written
_log = logging.getLogger("moot.backends")
Change = Callable[[bytes | None], bytes]  # of what is there, or of nothing


@dataclass
class _Loan:
    content: bytes
    users: int = 0


@records.record
class _Record:
    owner: ProcessIdentity
    content: bytes  # what stands in the place
    is_new: bool  # nothing was there before


_loans: dict[Path, _Loan] = {}  # of this process


@contextmanager
def lent(place: Path, change: Change) -> Generator[None]:
    """The file as `change` makes it of what was there, for as long as the block runs."""
    if not _is_of_the_project(place.parent, place):
        raise CannotLaunch("cannot_start", f"{place.parent} leads out of the project.", "Make it a folder of its own.")
    key = _known_as(place)
    loan = _loans.get(key)
    if loan is None:
        loan = _loans[key] = _Loan(_begin(place, change))
    elif loan.content != change(_read(_beside(place, _ASIDE))):
        raise CannotLaunch("error", f"{place} is in use for another agent.", "Give one of them its own workspace.")
    loan.users += 1
    try:
        yield
    finally:
        loan.users -= 1
        if not loan.users:
            del _loans[key]
            _end(place)


def recover(folder: Path) -> None:
    """Put back what a moot that was killed has left changed in this folder."""
    found = folder.resolve()
    for record in _records().glob(f"{_hash(found)}.*"):
        _end(found / record.name.partition(".")[2])


def _begin(place: Path, change: Change) -> bytes:
    try:
        if _is_in_use(place):
            raise CannotLaunch(
                "error", f"Another moot has changed {place} for its agents.", "Stop it, or use another workspace."
            )
        _put_back(place)
        if os.path.lexists(_beside(place, _ASIDE)):
            fact = f"{_beside(place, _ASIDE)} is in the way, and nobody has noted whose it is."
            raise CannotLaunch("error", fact, "Keep what you need of it, and remove it.")
        content = change(_read(place))
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(place, error) from error
    is_new = not os.path.lexists(place)
    try:
        _exchange(place, content, is_new=is_new)
    except OSError as error:
        _beside(place, _FRESH).unlink(missing_ok=True)
        _end(place)
        if is_new:
            _remove_if_empty(place.parent)
        raise _refused(place, error) from error
    return content


def _exchange(place: Path, content: bytes, *, is_new: bool) -> None:
    """All is written before the first rename, and from then on `_put_back` knows after each step what to do."""
    fresh = _beside(place, _FRESH)
    _write(fresh, content, _mode(place))
    kept = base64.b64encode(content).decode()
    record = {"owner": str(identity.current()), "content": kept, "is_new": is_new}
    _records().mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(_record_of(place), json.dump_bytes(record))
    if not is_new:
        place.replace(_beside(place, _ASIDE))
    fresh.replace(place)


def _end(place: Path) -> None:
    """What cannot be put back does not take the attempt's result along; it is tried again at the next start."""
    try:
        if not _is_in_use(place):
            _put_back(place)
    except OSError as error:
        _log.warning("%s could not be put back, which is tried again later: %s", place, error)


def _put_back(place: Path) -> None:
    """What somebody has changed meanwhile stays, without what is ours."""
    record = _record(place)
    if record is None:
        return
    aside = _beside(place, _ASIDE)
    now = None if place.is_symlink() else _read(place)  # we have put no link there
    if os.path.lexists(aside):
        left = undoing.without(_read(aside), record.content, now) if now not in (None, record.content) else None
        if left is not None:
            _write(aside.resolve() if _is_of_the_project(aside, place) else aside, left, _mode(aside))
        aside.replace(place)
    elif record.is_new and now is not None:
        left = undoing.without(None, record.content, now) if now != record.content else None
        if left is None:
            place.unlink()
        elif left != now:
            _write(place, left, _mode(place))
    _beside(place, _FRESH).unlink(missing_ok=True)
    _record_of(place).unlink()
    if record.is_new:
        _remove_if_empty(place.parent)


def _record(place: Path) -> _Record | None:
    """None also for one that cannot be read: it was not finished, and nothing was changed."""
    written = _read(_record_of(place))
    if written is None:
        return None
    try:
        match json.load_object(written):
            case {"owner": str(owner), "content": str(content), "is_new": bool(is_new)}:
                return _Record(identity.parse(owner), base64.b64decode(content), is_new)
            case _:
                pass
    except (InvalidInput, ValueError):
        pass
    _record_of(place).unlink()
    return None


def _is_in_use(place: Path) -> bool:
    """Whether the moot that changed it is alive; our own knows better."""
    record = _record(place)
    if record is None:
        return False
    is_ours = record.owner == identity.current()
    return _known_as(place) in _loans if is_ours else identity.is_alive(record.owner)


def _refused(place: Path, error: OSError) -> CannotLaunch:
    remedy = "Make room on the disk." if error.errno in (errno.ENOSPC, errno.EDQUOT) else "See that it can be written."
    return CannotLaunch("error", f"{place} cannot be changed: {error.strerror}.", remedy)


def _known_as(place: Path) -> Path:
    """One name for one file; the file itself may be a link, and stays one."""
    return place.parent.resolve() / place.name


def _records() -> Path:
    return Path.home() / ".moot" / "lent"


def _record_of(place: Path) -> Path:
    known = _known_as(place)
    return _records() / f"{_hash(known.parent)}.{known.name}"


def _hash(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()


def _is_of_the_project(found: Path, place: Path) -> bool:
    """Whether something leads to where the file's folder is, and not out of there."""
    return found.resolve().is_relative_to(place.parent.parent.resolve())


def _beside(place: Path, suffix: str) -> Path:
    return place.with_name(place.name + suffix)


def _read(place: Path) -> bytes | None:
    """Of a file only: a pipe would be waited for."""
    try:
        opened = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with open(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(place))
        return file.read()


def _mode(place: Path) -> int | None:
    return place.stat().st_mode & 0o777 if place.exists() else None


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _write(place: Path, content: bytes, mode: int | None = None) -> None:
    """Whole or not at all; readable by this user alone unless a mode is given."""
    fresh = place.with_name(f"{place.name}.{os.getpid()}{_FRESH}")
    fresh.unlink(missing_ok=True)
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        fresh.replace(place)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
