"""The journal of a tree of sessions: what was begun and what came of it, each under a path.

The same thing has the same path every time it is done. Whoever executes the tree again, after a crash, asks the journal
first: what is done is answered from there, and nothing that is done is done again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import datetime
from typing import Literal, Protocol

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.core.tree_path import TreePath, Trigger
from moot.core.wakes import Signal, Wakes
from moot.models.model import Usage

Kind = Literal["session", "model", "tool"]
State = Literal["started", "done", "failed", "unknown"]


class OverBudget(MootError):
    """What would be begun might cost more than is left."""

    code = "OVER_BUDGET"

    def __init__(self, fact: str, *, left: float = 0.0, is_passing: bool = False) -> None:
        super().__init__(fact)
        self.left = left  # dollars: a shorter answer may be had for that; 0: none
        self.is_passing = is_passing  # what others have set aside and do not need comes back


class Recalled(Exception):
    """Moot is to come to an end, and whoever was about to ask did not know."""


@record
class Intent:
    """About to be done. `facts` are what it is done with that nobody could find out again."""

    path: str
    kind: Kind
    name: str  # of the agent, the model or the tool
    agent: str
    trigger: Trigger = "turn"
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    reserve: float = 0.0  # dollars, the most it may cost
    least: float | None = None  # the same, if its answer is kept short; None: it cannot be
    tokens: int = 0  # that it may take at most
    provider: str = ""  # of the model
    is_replaceable: bool = False  # if there is not enough for it, another is asked
    is_last: bool = False  # whoever asks knows that it is to come to its end


@record
class Done:
    """What came of it, or why nothing did."""

    path: str
    result: Json = None
    usage: Usage = field(default_factory=Usage)
    stop: str = ""
    error: str | None = None
    until: datetime | None = None  # when the provider wants to be asked again
    is_retried: bool = False  # by whoever has asked, in a moment
    is_lost: bool = False  # it was cut off: how it would have ended nobody knows


@record
class Known:
    """What the journal has under a path: the try that succeeded, else the last one."""

    state: State
    tries: int = 1
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    result: Json = None


class Journal(Protocol):
    def known(self, path: str) -> Known | None: ...

    def open_below(self, path: str) -> Sequence[str]:
        """What was begun here under this path, and has not ended."""
        ...

    def given_back(self) -> AbstractContextManager[Signal]:
        """Rings when something that was set aside may be there again."""
        ...

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        """All of it at once, before anybody relies on it. Raises OverBudget, ModelFailed if the provider has asked to
        wait, or Recalled, and then no model may be asked; the rest is on record all the same."""
        ...


class Memory:
    """A journal that lasts as long as its process."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        self._under_way: dict[str, None] = {}  # their order counts
        self._wakes = Wakes()

    def known(self, path: str) -> Known | None:
        return self._known.get(path)

    def open_below(self, path: str) -> Sequence[str]:
        return [one for one in self._under_way if TreePath(one).is_below(path)]

    def given_back(self) -> AbstractContextManager[Signal]:
        return self._wakes.listen()

    def all(self) -> Mapping[str, Known]:
        return self._known

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        for one in done:
            self._known[one.path] = ended(self._known[one.path], one)
            self._under_way.pop(one.path, None)
        if done:
            self._wakes.ring()
        for one in begun:
            self._known[one.path] = started(self._known.get(one.path), one)
            self._under_way[one.path] = None
        await asyncio.sleep(0)  # as with every journal, others have their turn meanwhile


def started(before: Known | None, begun: Intent) -> Known:
    return Known("started", before.tries + 1 if before else 1, begun.facts)


def ended(before: Known, done: Done) -> Known:
    return Known(state_of(done), before.tries, before.facts, done.result)


def state_of(done: Done) -> State:
    if done.is_lost:
        return "unknown"
    return "done" if done.error is None else "failed"
