"""Several moves at once: a commit empties the processor's caches, so that one step between two commits takes as long to
compute as two or three in a row. Only what follows from the flow alone is foreseen; where anything is evaluated, waits
or fails, foresight ends, and that step is computed when its turn comes."""

from collections import deque
from collections.abc import Sequence

from moot.core.errors import MootError
from moot.core.records import record
from moot.engine.expressions.evaluation import Evaluation, Outcome, Scope
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.driving import Driver

_MOVES = 24


class Foresight:
    """What comes behind the last commit, as long as nobody else changes the flow."""

    def __init__(self) -> None:
        self._foreseen: deque[Foreseen] = deque()
        self._last: tuple[Delta, Live] | None = None

    async def look(self, driver: Driver, live: Live, change: Delta) -> None:
        """What comes behind this change, which is about to be committed."""
        self._foreseen = deque(await following(driver, live, change))

    def committed(self, change: Delta, live: Live) -> None:
        """A change was, and this is what it has made of the flow."""
        self._last = change, live

    def next(self, live: Live) -> Delta | None:
        """What was foreseen; None if nothing was, or the flow went another way since."""
        if not self._foreseen:
            return None
        foreseen = self._foreseen.popleft()
        if self._last is not None and self._last[0] is foreseen.behind and self._last[1] is live:
            return foreseen.change
        self._foreseen.clear()
        return None


@record
class Foreseen:
    """What is to be committed once the change behind which it comes is, unless the flow changes otherwise."""

    behind: Delta
    change: Delta


class _Evaluated(Exception):
    """A step asks for what cannot be foreseen."""


class _Nobody:
    async def evaluate(self, scope: Scope, evaluations: Sequence[Evaluation]) -> list[Outcome]:
        raise _Evaluated


async def following(driver: Driver, live: Live, change: Delta) -> list[Foreseen]:
    """What comes after a change, the first first."""
    blind, found = Driver(_Nobody(), driver.micros), list[Foreseen]()
    if any(one.status == "waiting" for one in live.strands.values()):
        return found  # its time may come in between
    while change.is_mere_move and len(found) < _MOVES:
        live = live.after(change)
        try:
            following = await blind.next(live)
        except (_Evaluated, MootError):
            break
        if following is None or not following.is_mere_move:
            break
        found.append(Foreseen(change, following))
        change = following
    return found
