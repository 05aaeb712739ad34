"""`conditional`: one of two blocks, or none."""

from pydantic import Field

from moot.core.records import record
from moot.engine.expressions import template
from moot.engine.expressions.template import Expression
from moot.engine.shape import Steps, StepShape
from moot.engine.step import Enter, Move, Next, Visit


class Said(StepShape):
    condition: str = Field(min_length=1, description="An expression: whether it is `then`, or `else`")
    then: Steps = Field(description="Steps if it holds")
    otherwise: Steps = Field(default_factory=list, validation_alias="else", description="Steps if it does not")


@record
class Conditional:
    condition: Expression


def read(said: Said) -> Conditional:
    return Conditional(template.condition(said.condition))


async def take(visit: Visit) -> Move:
    detail: Conditional = visit.step.detail
    if visit.rounds:
        return Next()
    block = "then" if await visit.value(detail.condition) else "else"
    return Enter(block) if visit.step.blocks.get(block) else Next()
