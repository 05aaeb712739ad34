"""`while`: a block again and again, as long as a condition holds."""

from typing import Annotated, Literal

from pydantic import Field

from moot.core.records import record
from moot.engine.expressions import template
from moot.engine.expressions.template import Expression
from moot.engine.shape import Steps, StepShape
from moot.engine.step import Enter, Move, Next, StepFailed, Visit

DEFAULT_MOST = 100


class Said(StepShape):
    condition: str = Field(min_length=1, description="An expression: whether to go through the body once more")
    body: Steps = Field(description="Steps of every round")
    max_iterations: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Rounds after which it is left"
    )
    on_max_iterations: Literal["leave", "fail"] = Field(default="leave", description="What that is")


@record
class While:
    condition: Expression
    most: int | None = None  # rounds; without it a loop of more than a hundred is a mistake
    on_most: Literal["leave", "fail"] = "leave"


def read(said: Said) -> While:
    return While(template.condition(said.condition), said.max_iterations, said.on_max_iterations)


async def take(visit: Visit) -> Move:
    detail: While = visit.step.detail
    if not await visit.value(detail.condition):
        return Next()
    most = DEFAULT_MOST if detail.most is None else detail.most
    if visit.rounds < most:
        return Enter("body")
    if detail.most is None or detail.on_most == "fail":
        raise StepFailed(
            f"The loop {visit.called} has gone through {most} rounds and its condition still holds.",
            "Correct the condition, or allow more rounds with max_iterations.",
        )
    return Next(warning=f"the loop {visit.called} was left after {most} rounds, and its condition still holds")
