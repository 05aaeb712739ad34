"""The process table through psutil, for systems without /proc."""

from pathlib import Path

import psutil


def pids() -> list[int]:
    return psutil.pids()


def started(pid: int) -> str | None:
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            return None if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.6f}"
    except psutil.Error:
        return None


def variable(pid: int, name: str) -> str | None:
    # macOS hides the environment of programs that belong to the system; those are found by their group only.
    try:
        return psutil.Process(pid).environ().get(name)
    except (psutil.Error, OSError):
        return None


def folder(pid: int) -> Path | None:
    try:
        return Path(psutil.Process(pid).cwd())
    except (psutil.Error, OSError):
        return None
