"""The process table: who runs, since when, and with which variable; asked afresh every time."""

import sys
from pathlib import Path
from typing import Protocol

if sys.platform == "linux":
    from moot.process.tables import linux as _system
else:
    from moot.process.tables import portable as _system


class ProcessTable(Protocol):
    """What each system's module answers. A process that is gone or hidden from us is None, never an error."""

    def pids(self) -> list[int]:
        """Everyone we can see, the dead but unreaped included."""
        ...

    def started(self, pid: int) -> str | None:
        """When the process began, in words only fit for comparing; None once it is dead, reaped or not."""
        ...

    def variable(self, pid: int, name: str) -> str | None:
        """One variable of the environment the process was started with."""
        ...

    def folder(self, pid: int) -> Path | None:
        """Where the process is at work."""
        ...


system: ProcessTable = _system
