"""A step as an agent is given it, and what moot has done before it."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue, RootModel

from moot.core import clock
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.engine.flow import flows, history
from moot.engine.flow.flows import Flow
from moot.engine.flow.history import StepRow
from moot.engine.flow.strands import Strand
from moot.engine.state import fields
from moot.tools import flow_prompts
from moot.tools.shapes import Result, clean

_MOST_EXECUTED = 50
# A way through all the steps around it, which may be many.
StepId = Annotated[str, Field(min_length=1, max_length=100_000), AfterValidator(clean)]
_INSIDE = frozenset(("strategy", "max_retries", "sub_agent_task", "agent"))  # of a definition: moot's own affair


class StepCard(Result):
    id: str
    type: str
    instructions: str
    definition: Mapping[str, JsonValue]
    variable_replacements: Mapping[str, JsonValue] | None = None
    original_expression: str | None = None


class ExecutedCard(Result):
    """A step that moot has carried out itself."""

    id: str
    type: str
    status: str
    detail: Mapping[str, JsonValue] | None = None
    error: str | None = None


class NoStep(RootModel[None]):
    """Null that is told: what is None is left out of answers, and here that there is nothing is the answer."""


class NextStep(Result):
    """`step` is null only when there is nothing left to do; while something is waited for, its type is `wait`."""

    step: StepCard | NoStep = Field(default_factory=lambda: NoStep(None))
    status: str
    executed: tuple[ExecutedCard, ...] = ()
    error: str | None = None


def step(flow: Flow, strand: Strand) -> StepCard:
    work = strand.work
    assert work is not None
    said: dict[str, Json] = {key: value for key, value in work.definition.items() if key not in _INSIDE}
    if work.type == "parallel_tasks":
        said = _with_prompt(flow, said)
    return StepCard(
        id=strand.step_id,
        type=work.type,
        instructions=work.instructions,
        definition=plain(said),
        variable_replacements=plain(work.replacements) or None,
        original_expression=work.original or None,
    )


def waiting(flow: Flow, strand: Strand) -> StepCard:
    """What is waited for, and that there is nothing to do meanwhile."""
    what, words = "moot", "moot is at work on it."
    if strand.is_over:
        what, words = "sub-agents", "Sub-agents are at work on it."
    elif strand.work is not None:
        what = strand.work.type
        words = strand.work.instructions if what == "wait" else words
    return StepCard(
        id=strand.step_id or "wait",
        type="wait",
        instructions=f"{words} Call workflow_get_next_step again.",
        definition={"waiting_for": what, "status": strand.status},
    )


def executed(tx: ReadTx, flow: Flow, strand: Strand) -> tuple[ExecutedCard, ...]:
    """What moot has done on this strand since its driver was told last: of very much the last."""
    found = history.executed(tx, flow.id, strand.number, strand.seen_step, _MOST_EXECUTED)
    return tuple(_executed(one) for one in found)


def state(tx: ReadTx, flow: Flow) -> dict[str, Any]:
    return dict(fields.flat(flows.fields(tx, flow.id)))


def plain(value: Mapping[str, Json]) -> dict[str, Any]:
    return dict(value)


def when(row: StepRow) -> dict[str, str]:
    return {"started_at": clock.to_iso(row.started_at), "completed_at": clock.to_iso(row.ended_at)}


def _executed(one: StepRow) -> ExecutedCard:
    detail = plain(one.detail) or None
    return ExecutedCard(id=one.step_id, type=one.type, status=one.status, detail=detail, error=one.error or None)


def _with_prompt(flow: Flow, said: Mapping[str, Json]) -> dict[str, Json]:
    """Every task with the workflow that it belongs to, and what its sub-agent is told."""
    tasks = said["tasks"]
    assert isinstance(tasks, list)
    told = [{**one, "context": {**_context(one), "workflow_id": flow.id}} for one in tasks if isinstance(one, Mapping)]
    return {**said, "tasks": told, "sub_agent_prompt": said.get("sub_agent_prompt") or flow_prompts.SUB_AGENT}


def _context(task: Mapping[str, Json]) -> Mapping[str, Json]:
    found = task.get("context")
    return found if isinstance(found, Mapping) else {}
