"""What reaches the terminal of a command while its loop runs, and how a signal ends it."""

import signal
import subprocess

import pytest

from moot.cli import loop
from moot.runner import trouble
from tests.cli.terminal import Terminal, finish, read_line

TOLD = """
import asyncio, logging
from moot.cli import loop
from moot.runner.trouble import Trouble
async def work():
    logging.getLogger("moot.runner").error("a traceback")
    logging.getLogger("somebody").error("else")
    met = Trouble()
    met.met(OSError("The disk is full."))
    met.over()
loop.run(work())
"""


def test_of_what_is_logged_only_a_hosts_trouble_is_shown(terminal: Terminal) -> None:
    assert trouble.LOGGER in loop.TROUBLE
    ended = terminal.python(TOLD, {"NO_COLOR": "1"})
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        "warning: The host waits and tries again: The disk is full.",
        "warning: The host goes on.",
    ]


STARTING = """
import asyncio, signal, sys
{ignored}
from moot.cli import main, program, loop
def starting(name, words):
    async def work():
        try:
            print("in the loop", flush=True)
            await asyncio.sleep(60)
        finally:
            print("cleaned up", flush=True)
    {before}
    return loop.run(work())
program.call = starting
main.main()
"""
WAITS = 'print("in the loop", flush=True); import time; time.sleep(60)'


@pytest.mark.parametrize("ignored", ["", "signal.signal(signal.SIGINT, signal.SIG_IGN)"])
@pytest.mark.parametrize("before", ["", WAITS])
def test_sigterm_while_a_command_starts_is_an_interrupt(terminal: Terminal, before: str, ignored: str) -> None:
    code = STARTING.format(before=before, ignored=ignored)
    process = subprocess.Popen(
        [terminal.argv()[0], "-c", code], cwd=terminal.folder, env=terminal.env(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert read_line(process) == "in the loop\n"
    process.send_signal(signal.SIGTERM)
    ended = finish(process)
    assert (ended.code, ended.err) == (130, "")
    assert ended.out == ("" if before else "cleaned up\n")
