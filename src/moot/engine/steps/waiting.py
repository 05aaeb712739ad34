"""`wait`: until a time has passed or come, or until others have decided or done something."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import Field

from moot.core import durations
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine import resolving
from moot.engine.resolving import text_of
from moot.engine.shape import StepShape
from moot.engine.step import Do, Move, Next, Outcome, StepFailed, Visit, Work
from moot.engine.steps import results, spans
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.spans import Span
from moot.engine.steps.updating import Change

Event = Literal["seconds", "for", "until", "vote", "approval", "task"]
TIMED_OUT = "timed_out"  # the key of a result that says so
_EXPECTED = {
    "vote": "the vote on {id} to be decided",
    "approval": "the request {id} to be answered",
    "task": "the task {id} to end",
}


class Said(StepShape):
    seconds: int | float | str | None = Field(default=None, description="How many seconds to wait")
    for_: str | None = Field(
        default=None, validation_alias="for", description="How long to wait: 500ms, 30s, 5m, 2h, 1d"
    )
    until: str | None = Field(default=None, min_length=1, description="The time to wait for: 2026-01-31T12:00:00Z")
    vote: str | None = Field(default=None, min_length=1, description="The id of a proposal that is to be decided")
    approval: str | None = Field(default=None, min_length=1, description="The id of a request that is to be answered")
    task: str | None = Field(default=None, min_length=1, description="The id or name of a task that is to end")
    timeout: Span | None = Field(
        default=None, description="How long to wait at most: milliseconds, or 30s, 5m; without it, as long as it takes"
    )
    on_timeout: Literal["fail", "continue"] = Field(default="fail", description="What is done then")
    state_update: ResultShape | None = Field(
        default=None, description="Where what came of it goes: the decision, the answer, the outcome"
    )


@record
class Wait:
    event: Event
    said: Json
    timeout: Json = None
    on_timeout: Literal["fail", "continue"] = "fail"
    writes: Change | None = None


def read(said: Said) -> Wait:
    named: dict[Event, Json] = {
        "seconds": said.seconds,
        "for": said.for_,
        "until": said.until,
        "vote": said.vote,
        "approval": said.approval,
        "task": said.task,
    }
    given: list[Event] = [event for event, what in named.items() if what is not None]
    if len(given) != 1:
        raise InvalidInput("A wait is for one thing.", f"Write one of {', '.join(named)}.")
    event, what = given[0], named[given[0]]
    if event in ("seconds", "for") and said.timeout is not None:
        raise InvalidInput("Who waits for a while needs no timeout.", "Leave it out.")
    if not any(resolving.expressions(what)):
        _expected(event, what)
    return Wait(event, what, said.timeout, said.on_timeout, results.change(said.state_update))


async def take(visit: Visit) -> Move:
    detail: Wait = visit.step.detail
    made = await visit.resolve(detail.said)
    try:
        definition, words = _expected(detail.event, made.value)
    except InvalidInput as error:
        raise StepFailed(f"{visit.called}: {error.fact}", error.remedy) from error
    if detail.timeout is not None:
        definition["timeout"] = spans.millis(await spans.resolved(visit, detail.timeout))
        definition["on_timeout"] = detail.on_timeout
    definition |= await results.shown(visit, detail.writes)
    words = f"There is nothing to do: moot waits for {words}. Ask for the next step again later."
    replaced = results.replacements(made.replacements)
    return Do(Work("wait", words, definition, replaced, results.original(detail.said)))


async def finish(visit: Visit, outcome: Outcome) -> Move:
    """Whoever gives up waiting says so in the result: `{timed_out: true}`."""
    detail: Wait = visit.step.detail
    result, warning = outcome.result, ""
    is_late = outcome.status == "failed" and isinstance(result, Mapping) and result.get(TIMED_OUT) is True
    if is_late and detail.on_timeout == "continue":
        warning = f"{visit.called} has waited in vain, and the flow goes on"
    elif is_late:
        raise StepFailed(
            f"{visit.called} has waited in vain: {outcome.error.strip() or 'its time is up'}",
            "Give it more time, or write on_timeout: continue.",
        )
    else:
        result = results.succeeded(visit, outcome)
    return Next(await results.updates(visit, detail.writes, {RESULT: result}), warning)


def _expected(event: Event, what: Json) -> tuple[dict[str, Json], str]:
    """What is waited for, as data and as words."""
    match event:
        case "seconds":
            if isinstance(what, bool) or not isinstance(what, int | float):
                raise InvalidInput(f"{text_of(what)[:40]!r} is no number of seconds.", "Write a number, or for: 30s.")
            return _while(spans.parse(what * 1000))
        case "for":
            return _while(durations.parse(text_of(what)))
        case "until":
            time = _time(text_of(what)).isoformat()
            return {"wait_for": "time", "until": time}, f"the time {time}"
        case "vote" | "approval" | "task":
            id = text_of(what).strip()
            if not id:
                raise InvalidInput(f"There is no {event} to wait for.", "Give its id.")
            return {"wait_for": event, "id": id}, _EXPECTED[event].format(id=id)


def _while(span: timedelta) -> tuple[dict[str, Json], str]:
    return {"wait_for": "time", "seconds": span.total_seconds()}, f"{durations.spell(span)} to pass"


def _time(said: str) -> datetime:
    try:
        found = datetime.fromisoformat(said.strip())
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(f"{said[:40]!r} is no time with its zone.", "Write it like 2026-01-31T12:00:00Z.")
