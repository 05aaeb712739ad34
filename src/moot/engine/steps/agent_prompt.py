"""`agent_prompt`: a question to an agent. With a schema the answer is JSON of that form; a wrong one is sent back."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from moot.core import json, schema_checker
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine import resolving
from moot.engine.resolving import text_of
from moot.engine.shape import StepShape
from moot.engine.step import Again, Do, Move, Next, Outcome, StepFailed, Visit, Work
from moot.engine.steps import naming, results
from moot.engine.steps.naming import AgentName
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.updating import Change
from moot.process import fitting

Schema = Mapping[str, JsonValue]


class Said(StepShape):
    prompt: str = Field(min_length=1, description="What the agent is asked; {{ values }} are put in")
    agent: AgentName = ""
    schema_: Schema | None = Field(
        default=None, validation_alias="schema", description="A JSON Schema of the answer; without it, words"
    )
    output: Schema | None = Field(default=None, description="The same as schema")
    max_retries: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=2, description="How often an answer that does not fit, or a failed one, is asked for again (2)"
    )
    state_update: ResultShape | None = Field(default=None, description="Where the answer goes")


@record
class AgentPrompt:
    prompt: str
    agent: str = ""
    schema: Mapping[str, Json] | None = None
    retries: int = 2
    writes: Change | None = None


def read(said: Said) -> AgentPrompt:
    if said.schema_ is not None and said.output is not None:
        raise InvalidInput("An agent_prompt has one schema.", "Write schema or output, not both.")
    schema = said.schema_ if said.schema_ is not None else said.output
    if schema is not None and not any(resolving.expressions(dict(schema))):
        _check(schema)
    return AgentPrompt(said.prompt, said.agent, schema, said.max_retries, results.change(said.state_update))


def _check(schema: Mapping[str, Json]) -> None:
    wrong = schema_checker.fault(schema)
    if wrong is not None:
        raise InvalidInput(f"This is no JSON Schema: {wrong}.", "See json-schema.org.")


async def take(visit: Visit) -> Move:
    detail: AgentPrompt = visit.step.detail
    made = await visit.resolve(detail.prompt)
    definition: dict[str, Json] = {"prompt": text_of(made.value), **await naming.shown(visit, detail.agent)}
    schema = await _schema(visit, detail)
    words = "Answer the prompt and complete the step with your answer."
    if schema is not None:
        definition["schema"] = schema
        words = "Answer the prompt and complete the step with your answer: JSON that fits the schema, and nothing else."
    definition |= await results.shown(visit, detail.writes)
    replaced = results.replacements(made.replacements)
    words += results.told(definition)
    return Do(Work("agent_prompt", words, definition, replaced, results.original(detail.prompt)))


async def finish(visit: Visit, outcome: Outcome) -> Move:
    detail: AgentPrompt = visit.step.detail
    schema = await _schema(visit, detail)
    answer, wrong = outcome.result, results.message(outcome) if outcome.status == "failed" else None
    if wrong is None and schema is not None:
        answer, wrong = await _fitted(outcome.result, schema)
    elif wrong is None and answer is None:
        wrong = "there is no answer"
    if wrong is None:
        return Next(await results.updates(visit, detail.writes, {RESULT: answer}))
    if visit.tries < detail.retries:
        return Again(error=wrong)
    remedy = "" if outcome.is_final else "See what the agent said, then resume."
    raise StepFailed(f"{visit.called} was not answered: {wrong}", remedy)


async def _schema(visit: Visit, detail: AgentPrompt) -> Mapping[str, Json] | None:
    if detail.schema is None:
        return None
    found = await visit.resolved(detail.schema)
    assert isinstance(found, Mapping)
    try:
        _check(found)
    except InvalidInput as error:
        raise StepFailed(f"{visit.called}: {error.fact}", error.remedy) from error
    return found


async def _fitted(answer: Json, schema: Mapping[str, Json]) -> tuple[Json, str | None]:
    """The answer, or what it says as JSON, and why it does not fit."""
    wrong = await fitting.mismatch(answer, schema)
    if wrong is None or not isinstance(answer, str):
        return answer, wrong
    try:
        found = json.loads(unfenced(answer))
    except InvalidInput as error:
        return answer, f"it is no JSON ({error.fact.rstrip('.')})"
    return found, await fitting.mismatch(found, schema)


def unfenced(answer: str) -> str:
    """Without the fence of Markdown that models put around code."""
    text = answer.strip()
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text.partition("\n")[2].removesuffix("```")
