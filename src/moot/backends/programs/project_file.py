"""A file in the user's project that a program reads, lent to it while it runs: changed, and put back on every way out.

What was there is kept beside it. After a kill the next user of the file, or `recover`, puts it back. Several agents of
one host share the change; a second host that would need another one is refused.
"""

import base64
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from moot.backends.programs.launch import CannotLaunch
from moot.core import json
from moot.core.errors import InvalidInput
from moot.process import identity

_SUFFIX = ".moot-backup"
Change = Callable[[bytes | None], bytes]  # of what is there, or of nothing


@dataclass
class _Loan:
    content: bytes
    users: int = 0


_loans: dict[Path, _Loan] = {}  # of this process


@contextmanager
def lent(place: Path, change: Change) -> Generator[None]:
    """The file as `change` makes it of what was there, for as long as the block runs."""
    loan = _loans.get(place)
    if loan is None:
        loan = _loans[place] = _begin(place, change)
    elif loan.content != change(_kept(place)):
        raise CannotLaunch("error", f"{place} is in use for another agent.", "Give one of them its own workspace.")
    loan.users += 1
    try:
        yield
    finally:
        loan.users -= 1
        if not loan.users:
            del _loans[place]
            _end(place, loan)


def recover(folder: Path) -> None:
    """Put back what a moot that was killed has left changed in this folder."""
    for backup in folder.glob(f"*{_SUFFIX}"):
        if not _is_owned(backup):
            _restore(backup.with_name(backup.name.removesuffix(_SUFFIX)))


def _begin(place: Path, change: Change) -> _Loan:
    backup = _backup(place)
    if backup.exists():
        if _is_owned(backup):
            raise CannotLaunch(
                "error", f"Another moot has changed {place} for its agents.", "Stop it, or use another workspace."
            )
        _restore(place)
    before = place.read_bytes() if place.exists() else None
    content = change(before)
    place.parent.mkdir(parents=True, exist_ok=True)
    kept = None if before is None else base64.b64encode(before).decode()
    _write(backup, json.dump_bytes({"owner": str(identity.current()), "content": kept}))
    _write(place, content)
    return _Loan(content)


def _end(place: Path, loan: _Loan) -> None:
    """What somebody has changed meanwhile is left as it is."""
    if place.exists() and place.read_bytes() != loan.content:
        _backup(place).unlink(missing_ok=True)
        return
    _restore(place)


def _restore(place: Path) -> None:
    if not _backup(place).exists():
        return
    before = _kept(place)
    if before is None:
        place.unlink(missing_ok=True)
    else:
        _write(place, before)
    _backup(place).unlink(missing_ok=True)
    if before is None and place.parent.is_dir() and not any(place.parent.iterdir()):
        place.parent.rmdir()


def _kept(place: Path) -> bytes | None:
    content = json.load_object(_backup(place).read_bytes()).get("content")
    return base64.b64decode(content) if isinstance(content, str) else None


def _is_owned(backup: Path) -> bool:
    """Whether the moot that made it is alive. A backup that cannot be read was not finished: nothing was changed."""
    try:
        owner = json.load_object(backup.read_bytes()).get("owner")
    except InvalidInput:
        backup.unlink()
        return False
    return isinstance(owner, str) and identity.is_alive(identity.parse(owner))


def _backup(place: Path) -> Path:
    return place.with_name(place.name + _SUFFIX)


def _write(place: Path, content: bytes) -> None:
    """Whole or not at all."""
    fresh = place.with_name(f"{place.name}.{os.getpid()}.moot-new")
    fresh.write_bytes(content)
    if place.exists():
        fresh.chmod(place.stat().st_mode & 0o777)
    fresh.replace(place)
