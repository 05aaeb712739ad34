"""`break` and `continue`: out of the loop around them, or on to its next round. `exit`: the end of the flow."""

from pydantic import Field

from moot.core.records import record
from moot.engine.shape import StepShape
from moot.engine.step import Ending, Exit, Leave, Move, Visit


class ExitSaid(StepShape):
    status: Ending = Field(default="success", description="How the flow has ended: success or failed")
    reason: str = Field(default="", description="Why, for people")


@record
class Stop:
    status: Ending = "success"
    reason: str = ""


def read_exit(said: ExitSaid) -> Stop:
    return Stop(said.status, said.reason)


async def take_break(visit: Visit) -> Move:
    return Leave(is_over=True)


async def take_continue(visit: Visit) -> Move:
    return Leave(is_over=False)


async def take_exit(visit: Visit) -> Move:
    detail: Stop = visit.step.detail
    return Exit(detail.status, str(await visit.resolved(detail.reason)))
