"""`user_message`: words for the person who uses the workflow."""

from pydantic import Field

from moot.core.records import record
from moot.engine.resolving import text_of
from moot.engine.shape import StepShape
from moot.engine.step import Do, Move, Next, Outcome, Visit, Work
from moot.engine.steps import results


class Said(StepShape):
    message: str = Field(min_length=1, description="What to show; {{ values }} are put in")


@record
class UserMessage:
    message: str


def read(said: Said) -> UserMessage:
    return UserMessage(said.message)


async def take(visit: Visit) -> Move:
    detail: UserMessage = visit.step.detail
    made = await visit.resolve(detail.message)
    return Do(
        Work(
            "user_message",
            "Show this message to the user, as it is.",
            {"message": text_of(made.value)},
            results.replacements(made.replacements),
            results.original(detail.message),
        )
    )


async def finish(visit: Visit, outcome: Outcome) -> Move:
    results.succeeded(visit, outcome)
    return Next()
