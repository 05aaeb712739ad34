"""`sequential`: a block as one step."""

from pydantic import Field

from moot.engine.shape import Steps, StepShape
from moot.engine.step import Enter, Move, Next, Turn


class Said(StepShape):
    steps: Steps = Field(description="Steps, one after the other")


async def take(turn: Turn) -> Move:
    return Next() if turn.rounds else Enter("steps")
