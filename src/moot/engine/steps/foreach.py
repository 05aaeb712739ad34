"""`foreach`: a block once for every item of a list, in its order. The list is taken when the loop begins."""

from collections.abc import Sequence

from pydantic import Field, JsonValue

from moot.core.json import Json
from moot.core.records import record
from moot.engine.shape import Steps, StepShape
from moot.engine.step import Enter, Move, Next, StepFailed, Visit


class Said(StepShape):
    items: str | list[JsonValue] = Field(description="A list, or an expression that is one")
    steps: Steps = Field(description="Steps for each; `item` is the one, `index` its place")


@record
class Foreach:
    items: Json  # a template, or a list with some in it


def read(said: Said) -> Foreach:
    return Foreach(said.items)


async def take(visit: Visit) -> Move:
    detail: Foreach = visit.step.detail
    items = visit.items if visit.rounds else await visit.resolved(detail.items)
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise StepFailed(f"The items of {visit.called} are no list.", "Give it a list.")
    if visit.rounds >= len(items):
        return Next()
    return Enter("steps", items=None if visit.rounds else items)
