"""What is seen of processes that may end while they are looked at: gone is an answer, never an error."""

from pathlib import Path

from moot.process import table


def is_running(pid: int) -> bool:
    """Not so of one that is dead and was not yet reaped."""
    return table.system.started(pid) is not None


def command_line(pid: int) -> str:
    return _seen(f"/proc/{pid}/cmdline")


def children_of(pid: int) -> list[int]:
    return [int(one) for one in _seen(f"/proc/{pid}/task/{pid}/children").split()]


def _seen(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
