"""Loaded by Python itself in the processes of a story that have it on their path: kills the process in one phase of its
run, before or after what is done there but before that is committed; or before or after the last attempt begins."""

import os
import signal
from collections.abc import AsyncGenerator, Callable
from typing import Any

from moot.backends.backend import Assignment, Ended, Progress, Usage
from moot.backends.scripted import ScriptedBackend
from moot.core.tx import Tx
from moot.runner import endings, phases, purses
from moot.runner.begun import Begun
from moot.runner.retry import Retry
from moot.tools import voting

_PHASE, _, _WHEN = os.environ["STORY_DIES"].partition(":")


def _die_if(phase: str, when: str) -> None:
    if (phase, when) == (_PHASE, _WHEN):
        os.kill(os.getpid(), signal.SIGKILL)


def _watched(phase: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def watched(*arguments: Any, **named: Any) -> Any:
        _die_if(phase, "before")
        result = plain(*arguments, **named)
        _die_if(phase, "after")
        return result

    return watched


_plain_begin_last = purses.begin_last
_plain_close = endings.close
_plain_run = ScriptedBackend.run


def _close(tx: Tx, begun: Begun, ended: Ended, retry: Retry, told: Usage) -> None:
    """Of an attempt that began when the run was in talk."""
    is_talk = begun.run is not None and begun.run.phase == "talk"
    (_watched("acknowledging", _plain_close) if is_talk else _plain_close)(tx, begun, ended, retry, told)


_lasts = 0


def _begin_last(*arguments: Any) -> None:
    global _lasts  # noqa: PLW0603
    _die_if("last attempt", "before")
    _plain_begin_last(*arguments)
    _lasts += 1


async def _run(self: ScriptedBackend, assignment: Assignment) -> AsyncGenerator[Progress]:
    if _lasts:
        _die_if("last attempt", "after")
    if any("@reviewer look" in letter.body for letter in assignment.inbox):
        _die_if("working", "before")
    async for step in _plain_run(self, assignment):
        yield step


voting.start_election = _watched("election", voting.start_election)
voting.cast = _watched("vote", voting.cast)
phases.kick_off = _watched("kickoff", phases.kick_off)
purses.begin_last = _begin_last
endings.close = _close
ScriptedBackend.run = _run
