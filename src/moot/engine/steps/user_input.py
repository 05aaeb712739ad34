"""`user_input`: a question to the person who uses the workflow. A wrong answer is asked for again."""

from collections.abc import Sequence
from typing import Annotated, cast

from pydantic import AfterValidator, Field, JsonValue

from moot.core import patterns
from moot.core.json import Json
from moot.core.patterns import PatternTooSlow
from moot.core.records import record
from moot.engine.resolving import text_of
from moot.engine.shape import Shape, StepShape
from moot.engine.step import Again, Do, Move, Next, Outcome, StepFailed, Visit, Work
from moot.engine.steps import results
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.updating import Change

Option = str | int | float | bool


class ValidationShape(Shape):
    pattern: Annotated[str, AfterValidator(patterns.check)] = Field(
        min_length=1, description="A regular expression that is found in a good answer; ^ and $ hold its ends"
    )
    error_message: str = Field(default="", description="What is said to a wrong one; `result` is the answer")


class Said(StepShape):
    prompt: str = Field(min_length=1, description="The question; {{ values }} are put in")
    validation: ValidationShape | None = Field(default=None, description="What an answer must look like")
    options: Annotated[list[Option], Field(min_length=1)] | str | None = Field(
        default=None, description="The answers to choose from: a list, or an expression that is one"
    )
    default: JsonValue = Field(default=None, description="What an empty answer means")
    max_retries: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=3, description="How often a wrong answer is asked for again (3)"
    )
    state_update: ResultShape | None = Field(default=None, description="Where the answer goes")


@record
class UserInput:
    prompt: str
    pattern: str = ""
    message: str = ""  # to a wrong answer
    options: Json = None
    default: Json = None
    has_default: bool = False
    retries: int = 3
    writes: Change | None = None


def read(said: Said) -> UserInput:
    return UserInput(
        said.prompt,
        pattern=said.validation.pattern if said.validation else "",
        message=said.validation.error_message if said.validation else "",
        options=said.options,
        default=said.default,
        has_default="default" in said.model_fields_set,
        retries=said.max_retries,
        writes=results.change(said.state_update),
    )


async def take(visit: Visit) -> Move:
    detail: UserInput = visit.step.detail
    made = await visit.resolve(detail.prompt)
    definition: dict[str, Json] = {"prompt": text_of(made.value)}
    if detail.pattern:
        definition["validation"] = {"pattern": detail.pattern, "error_message": detail.message}
    if detail.options is not None:
        definition["options"] = await _options(visit, detail)
    if detail.has_default:
        definition["default"] = await visit.resolved(detail.default)
    definition |= await results.shown(visit, detail.writes)
    words = f"Ask the user this and complete the step with the answer, word for word.{results.told(definition)}"
    replaced = results.replacements(made.replacements)
    return Do(Work("user_input", words, definition, replaced, results.original(detail.prompt)))


async def finish(visit: Visit, outcome: Outcome) -> Move:
    detail: UserInput = visit.step.detail
    reported = results.succeeded(visit, outcome)
    answer = text_of(reported).rstrip("\r\n")
    if not answer and detail.has_default:
        return await _written(visit, detail, await visit.resolved(detail.default))
    chosen = {text_of(one): one for one in await _options(visit, detail)}
    if reported is None:
        wrong = "There is no answer."
    elif chosen and answer not in chosen:
        wrong = f"Choose one of: {', '.join(chosen)}."
    else:
        wrong = await _mismatch(visit, detail, answer)
    if not wrong:
        return await _written(visit, detail, chosen.get(answer, answer))
    if visit.tries < detail.retries:
        return Again(error=wrong)
    raise StepFailed(f"{visit.called} was not answered: {wrong}", "Resume, and answer in the form that it asks for.")


async def _written(visit: Visit, detail: UserInput, answer: Json) -> Move:
    return Next(await results.updates(visit, detail.writes, {RESULT: answer}))


async def _options(visit: Visit, detail: UserInput) -> Sequence[Option]:
    if detail.options is None:
        return ()
    found = await visit.resolved(detail.options)
    is_list = isinstance(found, list) and bool(found) and all(isinstance(one, Option) for one in found)
    if not is_list:
        raise StepFailed(f"The options of {visit.called} are no list of answers.", "Give a list of texts or numbers.")
    return cast(Sequence[Option], found)


async def _mismatch(visit: Visit, detail: UserInput, answer: str) -> str:
    try:
        if not detail.pattern or patterns.search(detail.pattern, answer, minds_case=True) is not None:
            return ""
    except PatternTooSlow as error:
        return error.fact
    if detail.message:
        return text_of(await visit.resolved(detail.message, {RESULT: answer}))
    return f"The answer must have the form {detail.pattern}."
