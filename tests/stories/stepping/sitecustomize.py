"""Loaded by Python itself in the processes of a story that have it on their path: counts what is committed of flows,
and kills the process around one of these commits, or in the middle of a command."""

import os
import signal
from pathlib import Path
from typing import Any

from moot.runner.flows.deeds import Deeds
from moot.runner.flows.holding import Holding

_LOG = Path(os.environ["STORY_LOG"])
_WHEN, _, _NUMBER = os.environ.get("STORY_KILL", "never:0").partition(":")
_commits = 0
_plain_committed: Any = getattr(Holding, "_committed")  # noqa: B009
_plain_run: Any = getattr(Deeds, "_run")  # noqa: B009
_commands = 0


def _kill_if(when: str, number: int) -> None:
    if (_WHEN, int(_NUMBER)) == (when, number):
        os.kill(os.getpid(), signal.SIGKILL)


def _note() -> None:
    with _LOG.open("a") as file:
        file.write("commit\n")


async def _committed(self: Holding, *rest: Any) -> Any:
    global _commits  # noqa: PLW0603
    _commits += 1
    number = _commits
    _kill_if("before", number)
    found = await _plain_committed(self, *rest)
    _note()
    _kill_if("after", number)
    return found


async def _run(self: Deeds, *rest: Any) -> Any:
    """A command that has ended, and of which nothing is on record."""
    global _commands  # noqa: PLW0603
    _commands += 1
    number = _commands
    found = await _plain_run(self, *rest)
    _kill_if("command", number)
    return found


setattr(Holding, "_committed", _committed)  # noqa: B010
setattr(Deeds, "_run", _run)  # noqa: B010
