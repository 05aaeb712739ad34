"""Several moves at once: a commit empties the processor's caches, so that one step between two commits takes as long to
compute as two or three in a row. Only what follows from the flow alone is foreseen; where anything is evaluated, waits
or fails, foresight ends, and that step is computed when its turn comes."""

from collections.abc import Sequence

from moot.core.errors import MootError
from moot.core.records import record
from moot.engine.expressions.evaluation import Evaluation, Outcome, Scope
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.driving import Driver

_MOVES = 24


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
