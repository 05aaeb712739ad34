"""A command of moot in the background: it survives the terminal and writes to a log in moot's folder."""

import sys
from collections.abc import Sequence
from pathlib import Path

from moot.api import access
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.process import detached

_LAST_LINES = 20


@record
class Started:
    pid: int
    is_ready: bool
    exit_code: int | None
    log: Path
    last_words: tuple[str, ...]  # of one that did not get ready


def start(arguments: Sequence[str], instance: InstanceName) -> Started:
    """Run `moot` with these arguments, here, and wait until it says that it is ready."""
    log = access.find_project().make_folder(instance) / "moot.log"
    size = log.stat().st_size if log.exists() else 0
    found = detached.start([sys.executable, "-m", "moot", *arguments], cwd=Path.cwd(), log=log)
    last = () if found.is_ready else tuple(_behind(log, size)[-_LAST_LINES:])
    return Started(found.pid, found.is_ready, found.exit_code, log, last)


def _behind(log: Path, size: int) -> list[str]:
    with log.open(encoding="utf-8", errors="replace") as lines:
        lines.seek(size)
        return [line.rstrip("\n") for line in lines]
