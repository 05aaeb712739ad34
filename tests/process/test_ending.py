"""A process that is not ours is ended by who it is, and nobody in its place."""

import subprocess
import sys

from moot.process import ending, identity
from moot.process.identity import ProcessIdentity

STUBBORN = "import signal, sys; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); sys.stdin.read()"


def started(code: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def known(process: "subprocess.Popen[str]") -> ProcessIdentity:
    found = identity.of(process.pid)
    assert found is not None
    return found


async def test_a_process_that_ignores_being_asked_is_killed() -> None:
    with started(STUBBORN) as process:
        who = known(process)
        assert not await ending.is_over(who, 0.0)
        assert await ending.end(who, 1.0)
        assert process.wait(10) == -9


async def test_a_process_that_ends_when_asked_is_not_killed() -> None:
    with started("import sys; print('ready', flush=True); sys.stdin.read()") as process:
        assert await ending.end(known(process), 10.0)
        assert process.wait(10) == -15


async def test_whoever_has_the_number_of_a_dead_one_is_left_alone() -> None:
    with started("import sys; print('ready', flush=True); sys.stdin.read()") as process:
        assert await ending.end(ProcessIdentity(process.pid, "another time"), 1.0)
        assert process.poll() is None
        process.kill()
