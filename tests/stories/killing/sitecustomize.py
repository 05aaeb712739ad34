"""Loaded by Python itself in the processes of a story that have it on their path: notes what sessions ask and call, and
kills the process around one of the pages of their journal, as often as the story wants."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from moot.runner.journals import StoredJournal
from moot.session import asking
from moot.session.journal import Done, Intent
from moot.session.moot_tools import MootTools

_LOG = Path(os.environ["STORY_LOG"])
_WHEN, _, _NUMBER = os.environ.get("STORY_KILL", "never:0").partition(":")
_pages = 0


def _log(line: str) -> None:
    with _LOG.open("a") as file:
        file.write(f"{line}\n")


def _kill_if(when: str, number: int) -> None:
    if (_WHEN, int(_NUMBER)) == (when, number):
        os.kill(os.getpid(), signal.SIGKILL)


_plain_note = StoredJournal.note
_plain_ask: Any = getattr(asking, "_ask")  # noqa: B009
_plain_call = MootTools.call


async def _note(self: StoredJournal, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
    global _pages  # noqa: PLW0603
    _pages += 1
    number = _pages  # several may be written at once
    _kill_if("before", number)
    await _plain_note(self, done, begun)
    _log("page")
    _kill_if("after", number)


async def _ask(agent: Any, name: str, question: Any, *rest: Any) -> Any:
    _log(f"ask {question.path}")
    return await _plain_ask(agent, name, question, *rest)


async def _call(self: MootTools, name: str, arguments: Any, path: str) -> Any:
    _log(f"call {path}")
    return await _plain_call(self, name, arguments, path)


StoredJournal.note = _note
setattr(asking, "_ask", _ask)  # noqa: B010
MootTools.call = _call
