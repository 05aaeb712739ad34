"""What is seen of processes that may end while they are looked at: gone is an answer, never an error."""

import os
import select
from pathlib import Path

from moot.process import table


def is_running(pid: int) -> bool:
    """Not so of one that is dead and was not yet reaped."""
    return table.system.started(pid) is not None


def wait_for_end(pid: int, seconds: float) -> None:
    """Without reaping it: a loop that started it would wait for ever for what somebody else has collected."""
    try:
        ended = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        found = select.poll()
        found.register(ended, select.POLLIN)
        assert found.poll(seconds * 1000), f"process {pid} has not ended within {seconds:g} s"
    finally:
        os.close(ended)


def command_line(pid: int) -> str:
    return _seen(f"/proc/{pid}/cmdline")


def children_of(pid: int) -> list[int]:
    return [int(one) for one in _seen(f"/proc/{pid}/task/{pid}/children").split()]


def _seen(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
