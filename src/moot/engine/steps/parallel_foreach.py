"""`parallel_foreach`: a task for every item of a list, each done by a sub-agent, several at once."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.core.text import counted
from moot.engine.resolving import text_of
from moot.engine.shape import Shape, StepShape
from moot.engine.step import Do, Move, Next, Outcome, StepFailed, Visit, Work
from moot.engine.steps import results, sub_tasks, updating
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.updating import Change

Strategy = Literal["retry_failed", "continue", "fail_all"]
MOST_TASKS = 10_000
_MOST_TOLD = 5  # failures that an error tells of


class FailureShape(Shape):
    """What happens when a sub-agent fails."""

    strategy: Strategy = Field(
        default="fail_all",
        description="retry_failed: give its task to another; continue: go on without it; fail_all: the step fails",
    )
    max_retries: Annotated[int, Field(ge=0, le=100)] = Field(
        default=2, description="With retry_failed, how often a task is given to another (2)"
    )
    collect_errors: bool = Field(default=True, description="Whether errors are written to error_state_path")
    error_state_path: str | None = Field(
        default=None, min_length=1, description="Where the list of {task_id, error} goes: raw.NAME"
    )


class Said(StepShape):
    items: str | list[JsonValue] = Field(description="A list, or an expression that is one: each item is a task")
    sub_agent_task: str = Field(min_length=1, description="The name of one of sub_agent_tasks")
    max_parallel: Annotated[int, Field(ge=1)] | str = Field(
        default=10, description="How many sub-agents work at once, at most (10)"
    )
    wait_for_all: bool = Field(default=True, description="Whether the flow goes on only when all have ended")
    on_sub_agent_error: FailureShape = Field(
        default_factory=FailureShape, description="What happens when a sub-agent fails"
    )
    sub_agent_prompt_override: str = Field(
        default="", description="What sub-agents are told, in place of moot's own words"
    )
    agent: str = Field(default="", description="The agent whose like are started for the tasks")
    state_update: ResultShape | None = Field(
        default=None, description="Where the results go; `result` has them by task_id, `errors` those that failed"
    )


@record
class ParallelForeach:
    items: Json
    task: str
    most: int | str = 10
    waits: bool = True
    strategy: Strategy = "fail_all"
    retries: int = 2
    collected: Change | None = None  # where errors go
    prompt: str = ""
    agent: str = ""
    writes: Change | None = None


def read(said: Said) -> ParallelForeach:
    on_error = said.on_sub_agent_error
    if "collect_errors" in on_error.model_fields_set and on_error.collect_errors and on_error.error_state_path is None:
        raise InvalidInput("Nobody knows where collected errors go.", "Add error_state_path: raw.NAME.")
    if isinstance(said.max_parallel, str) and "{{" not in said.max_parallel:
        raise InvalidInput("max_parallel is no number.", "Write digits, without quotes, or an expression.")
    return ParallelForeach(
        said.items,
        said.sub_agent_task,
        most=said.max_parallel,
        waits=said.wait_for_all,
        strategy=on_error.strategy,
        retries=on_error.max_retries if on_error.strategy == "retry_failed" else 0,
        collected=_collected(on_error),
        prompt=said.sub_agent_prompt_override,
        agent=said.agent,
        writes=results.change(said.state_update),
    )


def _collected(said: FailureShape) -> Change | None:
    if said.error_state_path is None or not said.collect_errors:
        return None
    return updating.change(ResultShape(path=said.error_state_path, value="{{ errors }}"))


async def take(visit: Visit) -> Move:
    detail: ParallelForeach = visit.step.detail
    made = await visit.resolve(detail.items)
    items = made.value
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise StepFailed(f"The items of {visit.called} are no list.", "Give it a list.")
    if not items:
        return await finish(visit, Outcome("success"))
    if len(items) > MOST_TASKS:
        raise StepFailed(
            f"{visit.called} has {len(items):,} items; at most {MOST_TASKS:,} are done at once.",
            "Put several into one item.",
        )
    definition = await _definition(visit, detail, items)
    replaced = results.replacements(made.replacements)
    return Do(Work("parallel_tasks", _words(detail, definition), definition, replaced, results.original(detail.items)))


def _words(detail: ParallelForeach, definition: Mapping[str, Json]) -> str:
    count = counted(len(cast(list[Json], definition["tasks"])), "task")
    ends = "Complete the step when all of them have ended." if detail.waits else "You need not wait for their end."
    return (
        f"Start a sub-agent for each of the {count}, at most {definition['max_parallel']} at once, and give each its "
        f"task_id and context. {ends} Do none of the tasks yourself."
    )


async def _definition(visit: Visit, detail: ParallelForeach, items: Sequence[Json]) -> dict[str, Json]:
    asked = visit.asked(detail.task)
    if asked is None:
        raise StepFailed(f"There is no task `{detail.task[:80]}` for sub-agents.", "Write it under sub_agent_tasks.")
    definition: dict[str, Json] = {
        "tasks": await sub_tasks.listed(visit, items, asked),
        "max_parallel": await _most(visit, detail),
        "sub_agent_task": detail.task,
        "wait_for_all": detail.waits,
        "strategy": detail.strategy,
    }
    if detail.strategy == "retry_failed":
        definition["max_retries"] = detail.retries
    for key, said in (("sub_agent_prompt", detail.prompt), ("agent", detail.agent)):
        if said:
            definition[key] = text_of(await visit.resolved(said))
    return definition | await results.shown(visit, detail.writes)


async def _most(visit: Visit, detail: ParallelForeach) -> int:
    found = await visit.resolved(detail.most)
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise StepFailed(f"max_parallel of {visit.called} is no number of sub-agents.", "Give a whole number from 1.")
    return found


async def finish(visit: Visit, outcome: Outcome) -> Move:
    """The result has `results` and `failed`, each by task_id. Whatever was to be tried again was, before this."""
    detail: ParallelForeach = visit.step.detail
    reported = outcome.result if isinstance(outcome.result, Mapping) else dict[str, Json]()
    failed = cast(Mapping[str, Json], reported.get("failed") or {})
    errors: list[Json] = [{"task_id": id, "error": why} for id, why in failed.items()]
    collected = await results.updates(visit, detail.collected, {"errors": errors})
    if outcome.status == "failed" and not failed:
        raise StepFailed(f"{visit.called} failed: {results.message(outcome)}", "See why, then resume.", collected)
    if failed and detail.strategy != "continue":
        raise StepFailed(_told(visit, failed), "See why, or go on without them: strategy: continue.", collected)
    own: dict[str, Json] = {RESULT: reported.get("results") or {}, "errors": errors}
    warning = f"{_told(visit, failed)} The flow goes on without them." if failed else ""
    return Next((*await results.updates(visit, detail.writes, own), *collected), warning)


def _told(visit: Visit, failed: Mapping[str, Json]) -> str:
    each = [f"{id[:80]}: {text_of(why)[:200].rstrip('.')}" for id, why in list(failed.items())[:_MOST_TOLD]]
    more = [f"and {len(failed) - _MOST_TOLD} more"] if len(failed) > _MOST_TOLD else []
    return f"{counted(len(failed), 'sub-agent')} of {visit.called} failed: {'; '.join((*each, *more))}."
