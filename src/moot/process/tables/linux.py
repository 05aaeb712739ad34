"""The process table read from /proc: no dependency to import, and start times that no clock change moves."""

import contextlib
import functools
import os
import time
from pathlib import Path

# Places in /proc/PID/stat, counted after the name, which may itself hold spaces and brackets.
_STATE, _THREADS, _START, _ENVIRON_END = 0, 17, 19, 48
_DEAD = (b"Z", b"X", b"x")
_EXEC_LOOKS, _EXEC_PAUSE = 50, 0.001


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def started(pid: int) -> str | None:
    fields = _stat(pid)
    if not fields or _is_dead(fields):
        return None
    # Seconds since the epoch follow the wall clock; correcting that would make the living look dead.
    return f"{_boot()}.{int(fields[_START])}"


def _is_dead(fields: list[bytes]) -> bool:
    """A process whose first thread alone has ended looks like a zombie, but has other threads."""
    return fields[_STATE] in _DEAD and int(fields[_THREADS]) <= 1


def variable(pid: int, name: str) -> str | None:
    prefix = os.fsencode(name) + b"="
    content = _read(f"/proc/{pid}/environ")
    if content == b"":
        content = _settled_environ(pid)
    if content is None or prefix not in content:
        return None
    values = (entry.removeprefix(prefix) for entry in content.split(b"\0") if entry.startswith(prefix))
    return next(map(os.fsdecode, values), None)


def folder(pid: int) -> Path | None:
    with contextlib.suppress(OSError):
        return Path(os.readlink(f"/proc/{pid}/cwd"))
    return None


def _settled_environ(pid: int) -> bytes | None:
    """Empty only when it is: in the middle of exec the old one is gone and the new one not there yet."""
    for _ in range(_EXEC_LOOKS):
        before = _stat(pid)
        content = _read(f"/proc/{pid}/environ")
        after = _stat(pid)
        if content != b"" or not after or _is_dead(after):
            return content
        if before and int(before[_ENVIRON_END]) == int(after[_ENVIRON_END]) != 0:
            return content
        time.sleep(_EXEC_PAUSE)
    return None


def _stat(pid: int) -> list[bytes]:
    return (_read(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()


def _read(path: str) -> bytes | None:
    """The file's content; None when the process is gone or hidden from us."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return None


@functools.cache
def _boot() -> str:
    """Ticks count from boot, so the same count can come again after the next one."""
    return (_read("/proc/sys/kernel/random/boot_id") or b"boot")[:8].decode()
