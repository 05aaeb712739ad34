"""`sequential`: a block as one step."""

from pydantic import Field

from moot.engine.shape import Steps, StepShape
from moot.engine.step import Enter, Move, Next, Visit


class Said(StepShape):
    steps: Steps = Field(description="Steps, one after the other")


async def take(visit: Visit) -> Move:
    return Next() if visit.rounds else Enter("steps")
