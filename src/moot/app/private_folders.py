"""A private folder for each attempt, gone after it. One that is left over tells of a host that was killed: what still
runs under its name is ended before it is removed."""

import asyncio
import fcntl
import logging
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from moot.process import sweep

_log = logging.getLogger("moot.app")


@asynccontextmanager
async def opened(above: Path, name: str) -> AsyncGenerator[Path]:
    """Held by this process while the block runs. The name marks the processes that are started meanwhile."""
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = above / name
    folder.mkdir(mode=0o700)
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        os.close(held)


def clear(above: Path) -> list[str]:
    """Away with what killed hosts have left; the names."""
    cleared: list[str] = []
    for folder in _folders(above):
        with suppress(OSError):  # another process was quicker
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if _is_free(held):
                    _clear(folder)
                    cleared.append(folder.name)
            finally:
                os.close(held)
    return cleared


def _folders(above: Path) -> list[Path]:
    if above.is_symlink():  # not ours: it came with a repository, and may lead to anything of the user's
        above.unlink()
        return []
    try:
        return sorted(above.iterdir())
    except FileNotFoundError:
        return []


def _is_free(held: int) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _clear(folder: Path) -> None:
    swept = sweep.kill_marked(folder.name)
    if swept.ended:
        _log.warning("ended %d process(es) that a killed host had left", len(swept.ended))
    shutil.rmtree(folder, ignore_errors=True)
