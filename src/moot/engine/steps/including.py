"""`include_workflow`: another workflow as one step, with inputs and a state of its own.

What it knew at its end is known afterwards under the name of the step (`{{ checks.total_issues }}`), and what it has
computed by its bare name, too, where nothing else is called so. Where it has failed and nothing in it takes care of
that, so has the step.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from pydantic import Field, JsonValue

from moot.core.json import Json
from moot.core.records import record
from moot.engine.shape import StepShape
from moot.engine.state import fields
from moot.engine.step import Include, Move, Next, StepFailed, Visit
from moot.engine.steps import results
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.updating import Change

if TYPE_CHECKING:
    from moot.engine.definition import Definition


class Said(StepShape):
    workflow: str = Field(min_length=1, description="The name of a workflow that was imported, or can be found by it")
    inputs: Mapping[str, JsonValue] = Field(default_factory=dict[str, JsonValue], description="What it asks for")
    state_update: ResultShape | None = Field(default=None, description="Where its state goes; `result` is all of it")


@record
class Included:
    """`definition` is put in by whoever has found it."""

    workflow: str
    inputs: Mapping[str, Json]
    writes: Change | None = None
    definition: "Definition | None" = None


def read(said: Said) -> Included:
    return Included(said.workflow, dict(said.inputs), results.change(said.state_update))


async def take(visit: Visit) -> Move:
    detail: Included = visit.step.detail
    if not visit.rounds:
        return Include(cast(Mapping[str, Json], await visit.resolved(detail.inputs)))
    if visit.trouble is not None:
        raise StepFailed(str(visit.trouble["message"]), str(visit.trouble["remedy"]))
    found = fields.flat(visit.included)
    computed = fields.sections(visit.included)["computed"]
    writes = await results.updates(visit, detail.writes, {RESULT: found})
    return Next(writes, keeps={**computed, visit.step.name: found})
