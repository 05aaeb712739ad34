"""What becomes of a step whose work has failed: it fails, too, or goes on, or has it done again."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine.shape import StepShape
from moot.engine.step import Again, Move, Next, StepFailed, Visit
from moot.engine.steps import results, spans
from moot.engine.steps.results import ERROR, RESULT, ErrorShape
from moot.engine.steps.spans import Span
from moot.engine.steps.updating import Change

OnError = Literal["fail", "continue", "retry"]


class FailingShape(StepShape):
    """What steps may say that are allowed to fail."""

    on_error: OnError = Field(default="fail", description="If it fails: fail, continue, or retry")
    retry_count: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=3, description="With on_error: retry, how often it is done again (3)"
    )
    retry_delay: Span = Field(default="1s", description="How long to wait before: milliseconds, or 500ms, 30s (1s)")
    fallback_value: JsonValue = Field(
        default=None, description="What stands in for the result if it fails and the flow goes on"
    )
    error_state_update: ErrorShape | None = Field(default=None, description="What to write if it fails")


@record
class Failing:
    on_error: OnError = "fail"
    retries: int = 0
    delay: Span = 0
    fallback: Json = None
    has_fallback: bool = False
    writes: Change | None = None

    @property
    def goes_on(self) -> bool:
        """In the end; what is done again goes on only with something in place of its result."""
        return self.on_error == "continue" or (self.on_error == "retry" and self.has_fallback)


def read(said: FailingShape) -> Failing:
    has_fallback = "fallback_value" in said.model_fields_set
    if has_fallback and said.on_error == "fail":
        raise InvalidInput("With on_error: fail nothing stands in for a result.", "Write on_error: continue, or retry.")
    retries = said.retry_count if said.on_error == "retry" else 0
    writes = results.change(said.error_state_update)
    return Failing(said.on_error, retries, said.retry_delay, said.fallback_value, has_fallback, writes)


async def failed(visit: Visit, failing: Failing, writes: Change | None, error: Mapping[str, Json]) -> Move:
    """`error` has a `message`; `writes` is where the result would have gone."""
    message = str(error["message"])
    if visit.tries < failing.retries:
        return Again(await spans.resolved(visit, failing.delay), message)
    own: dict[str, Json] = {ERROR: {**error, "step": visit.called}}
    noted = await results.updates(visit, failing.writes, own)
    if not failing.goes_on:
        raise StepFailed(f"{visit.called} failed: {message}", "See why, or say what else to do: on_error.", noted)
    warning = f"{visit.called} failed, and the flow goes on: {message}"
    if not failing.has_fallback:
        return Next(noted, warning)
    result = await visit.resolved(failing.fallback, own)
    return Next((*await results.updates(visit, writes, {**own, RESULT: result}), *noted), warning)
