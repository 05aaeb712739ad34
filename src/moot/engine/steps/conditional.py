"""`conditional`: one of two blocks, or none."""

from moot.core.records import record
from moot.engine.expressions.template import Expression
from moot.engine.step import Enter, Move, Next, Turn


@record
class Conditional:
    condition: Expression


async def take(turn: Turn) -> Move:
    detail: Conditional = turn.step.detail
    if turn.rounds:
        return Next()
    block = "then" if await turn.value(detail.condition) else "else"
    return Enter(block) if turn.step.blocks.get(block) else Next()
