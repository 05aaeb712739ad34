"""`break` and `continue`: out of the loop around them, or on to its next round. `exit`: the end of the flow."""

from moot.core.records import record
from moot.engine.step import Ending, Exit, Leave, Move, Turn


@record
class Stop:
    status: Ending = "success"
    reason: str = ""


async def take_break(turn: Turn) -> Move:
    return Leave(is_over=True)


async def take_continue(turn: Turn) -> Move:
    return Leave(is_over=False)


async def take_exit(turn: Turn) -> Move:
    detail: Stop = turn.step.detail
    return Exit(detail.status, str(await turn.resolved(detail.reason)))
