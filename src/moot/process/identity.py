"""Who a process is: its pid and when it started, because pids are used again. True on one machine only."""

import os

from moot.core.records import record
from moot.process.errors import BadIdentity
from moot.process.table import system


@record
class ProcessIdentity:
    pid: int
    started: str

    def __str__(self) -> str:
        """`pid:started`, the form to store."""
        return f"{self.pid}:{self.started}"


def of(pid: int) -> ProcessIdentity | None:
    """The living process with this pid; None when there is none."""
    started = system.started(pid)
    return None if started is None else ProcessIdentity(pid, started)


def current() -> ProcessIdentity:
    """This very process."""
    identity = of(os.getpid())
    if identity is None:
        raise BadIdentity("This process is not in the process table.", "Make /proc readable to it.")
    return identity


def parse(text: str) -> ProcessIdentity:
    """The reverse of `str(identity)`."""
    pid, _, started = text.partition(":")
    if not (pid.isascii() and pid.isdecimal() and started):
        raise BadIdentity(f"{text!r} does not name a process.", "Write it as pid:started.")
    return ProcessIdentity(int(pid), started)


def is_alive(identity: ProcessIdentity) -> bool:
    """False also for a zombie, and for a stranger who got the same pid."""
    return of(identity.pid) == identity
