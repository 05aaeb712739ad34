"""`while`: a block again and again, as long as a condition holds."""

from typing import Literal

from moot.core.records import record
from moot.engine.expressions.template import Expression
from moot.engine.step import Enter, Move, Next, StepFailed, Turn

DEFAULT_MOST = 100


@record
class While:
    condition: Expression
    most: int | None = None  # rounds; without it a loop of more than a hundred is a mistake
    on_most: Literal["leave", "fail"] = "leave"


async def take(turn: Turn) -> Move:
    detail: While = turn.step.detail
    if not await turn.value(detail.condition):
        return Next()
    most = DEFAULT_MOST if detail.most is None else detail.most
    if turn.rounds < most:
        return Enter("body")
    if detail.most is None or detail.on_most == "fail":
        raise StepFailed(
            f"The loop {turn.step.name} has gone through {most} rounds and its condition still holds.",
            "Correct the condition, or allow more rounds with max_iterations.",
        )
    return Next(warning=f"the loop {turn.step.name} was left after {most} rounds, and its condition still holds")
