"""What to run and how it ended: the records around a child process. `child` does the running."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from moot.core.records import record

MEBIBYTE = 1 << 20

Ending = Literal["exited", "deadline", "idle", "stopped"]


@record
class Program:
    """A program and its limits. Times are seconds; None means no limit."""

    argv: tuple[str, ...]
    cwd: Path | None = None
    env: Mapping[str, str] | None = field(default=None, repr=False)  # all of it; None: environment.build()
    stdin: bytes | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)  # in no output that is kept, and in no line that is cut
    stdin_stays_open: bool = False  # after `stdin`, for Running.write
    deadline: float | None = None
    idle: float | None = None  # without any output
    grace: float = 5.0  # between asking the tree to go and killing it
    output_cap: int = MEBIBYTE  # kept of stdout and of stderr each, half from the start and half from the end
    line_cap: int = 16 * MEBIBYTE  # of each line streamed
    marker: str | None = None  # an id by which sweep.kill_marked finds the tree after a crash


@record
class Finished:
    """How a program ended, whatever ended it. By now nothing of its tree is left but `survivors`."""

    ended: Ending
    exit_code: int | None  # None when a signal ended it
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool
    stderr_truncated: bool
    duration: float
    survivors: tuple[int, ...] = ()  # pids that outlived SIGKILL: stuck in the kernel, or another user's

    @property
    def is_success(self) -> bool:
        return self.ended == "exited" and self.exit_code == 0

    @property
    def how(self) -> str:
        """The end of a sentence about it: `failed with exit code 1`."""
        if self.ended == "deadline":
            return "did not end in time"
        if self.signal is not None:
            return f"was ended by signal {self.signal}"
        return f"failed with exit code {self.exit_code}"

    def printed(self, most: int) -> str:
        """The last of what it wrote, stdout before stderr, so many characters; what is left out before them is said."""
        found = f"{as_text(self.stdout)}\n{as_text(self.stderr)}".strip()
        return found if len(found) <= most else f"[... {len(found) - most} characters before this]\n{found[-most:]}"


def as_text(output: bytes) -> str:
    """Without the line ends at its end, as a shell's `$(…)` gives it, and without what no text may hold."""
    return output.decode(errors="replace").replace("\0", "\ufffd").rstrip("\r\n")


def shell_argv(command: str) -> tuple[str, str, str]:
    """The arguments that hand a line to the shell, for the callers whose users write shell."""
    return ("/bin/sh", "-c", command)
