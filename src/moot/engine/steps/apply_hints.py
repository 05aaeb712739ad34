"""`apply_hints`: an agent changes a file as hints about it say. What it reports has fields, and each is a name for the
value that is written: `{{ applied_count }}`."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from moot.core.json import Json
from moot.core.records import record
from moot.engine.resolving import text_of
from moot.engine.state.operations import Update
from moot.engine.step import Do, Move, Next, Outcome, StepFailed, Visit, Work
from moot.engine.steps import failing, naming, results, updating
from moot.engine.steps.failing import Failing, FailingShape
from moot.engine.steps.naming import AgentName
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.updating import Change

_WORDS = (
    "Change the file as these hints say, where they apply to it, and nothing else. Complete the step with an object: "
    "applied_count is the number of hints that you applied, skipped_count that of the others."
)


class Said(FailingShape):
    file: str = Field(min_length=1, description="The path of the file")
    hints: JsonValue = Field(description="What to change: a list, a text, or an expression that is one")
    agent: AgentName = ""
    state_update: ResultShape | None = Field(
        default=None, description="Where the result goes; its fields, such as applied_count, are names for the value"
    )


@record
class ApplyHints:
    file: str
    hints: Json
    failing: Failing
    writes: Change | None = None
    agent: str = ""


def read(said: Said) -> ApplyHints:
    return ApplyHints(said.file, said.hints, failing.read(said), results.change(said.state_update), said.agent)


async def take(visit: Visit) -> Move:
    detail: ApplyHints = visit.step.detail
    made = await visit.resolve({"file": detail.file, "hints": detail.hints})
    assert isinstance(made.value, Mapping)
    file = text_of(made.value["file"])
    if not file:
        raise StepFailed(f"{visit.called} names no file.", "Give the path of a file.")
    shown = {**await naming.shown(visit, detail.agent), **await results.shown(visit, detail.writes)}
    definition: dict[str, Json] = {**made.value, "file": file, **shown}
    words = f"{_WORDS} If you cannot, complete the step as failed and say why."
    original = results.original(detail.file) or results.original(detail.hints)
    return Do(Work("apply_hints", words, definition, results.replacements(made.replacements), original))


async def finish(visit: Visit, outcome: Outcome) -> Move:
    detail: ApplyHints = visit.step.detail
    if outcome.status == "failed":
        return await failing.failed(visit, detail.failing, detail.writes, {"message": results.message(outcome)})
    return Next(await _updates(visit, detail.writes, outcome.result))


async def _updates(visit: Visit, writes: Change | None, result: Json) -> tuple[Update, ...]:
    """The names that an agent has chosen are for the value alone: no name of its can lead a path elsewhere."""
    if writes is None:
        return ()
    reported = result if isinstance(result, Mapping) else dict[str, Json]()
    keys = await visit.resolved(list(writes.path), {RESULT: result})
    assert isinstance(keys, list)
    value = await visit.resolved(writes.value, {**reported, RESULT: result})
    return (Update(updating.place(writes.path, keys), writes.operation, value),)
