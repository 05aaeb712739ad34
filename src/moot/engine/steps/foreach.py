"""`foreach`: a block once for every item of a list, in its order. The list is taken when the loop begins."""

from collections.abc import Sequence

from moot.core.json import Json
from moot.core.records import record
from moot.engine.step import Enter, Move, Next, StepFailed, Turn


@record
class Foreach:
    items: Json  # a template, or a list with some in it


async def take(turn: Turn) -> Move:
    detail: Foreach = turn.step.detail
    items = turn.items if turn.rounds else await turn.resolved(detail.items)
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise StepFailed(f"The items of {turn.step.name} are no list.", "Give it a list.")
    if turn.rounds >= len(items):
        return Next()
    return Enter("steps", items=None if turn.rounds else items)
