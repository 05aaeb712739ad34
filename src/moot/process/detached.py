"""A program that outlives this process and its terminal: in a session of its own, with its output in a file.

It says once that it is ready, through a pipe whose number is in its environment; if it ends before, the pipe tells.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from moot.core.records import record
from moot.process.errors import ProgramNotStarted

READY = "MOOT_READY_PIPE"


@record
class Detached:
    pid: int
    is_ready: bool  # False: it has ended
    exit_code: int | None


def start(argv: Sequence[str], *, cwd: Path, log: Path) -> Detached:
    """Start it, and wait until it is ready or has ended. What it prints is appended to the log."""
    reading, writing = os.pipe()
    try:
        output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**os.environ, READY: str(writing)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(writing,),
                start_new_session=True,
            )
        finally:
            os.close(output)
    except OSError as error:
        os.close(reading)
        raise ProgramNotStarted(f"{argv[0]!r} could not be started: {error.strerror}.", f"Check {log}.") from error
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        is_ready = pipe.read(1) != b""
    return Detached(process.pid, is_ready, None if is_ready else process.wait())


def tell_ready() -> None:
    """To whoever started this process detached, if somebody did. Once: the pipe is closed then."""
    pipe = os.environ.pop(READY, None)
    if pipe is not None:
        os.write(int(pipe), b".")
        os.close(int(pipe))
