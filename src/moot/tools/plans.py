"""Plans as agents write them down, in the words of the protocol."""

from typing import Annotated, Literal

from pydantic import ConfigDict, FailFast, Field

from moot.board import evidence, plans
from moot.board.plans import Complexity, Need, Plan, Planned
from moot.core.caller import Caller
from moot.core.errors import NotAllowed
from moot.process import fitting
from moot.tools.shapes import Arguments, Detail, Line, Name, Prose

Lines = Annotated[tuple[Annotated[str, Field(max_length=4096)], ...], Field(max_length=1000, strict=False), FailFast()]


class Dependency(Arguments):
    task: Line
    type: Annotated[
        Literal["blocks", "informs"], Field(description="blocks: it must be done first; informs: good to know.")
    ] = "blocks"


class PlannedTask(Arguments):
    model_config = ConfigDict(populate_by_name=True)

    name: Line
    description: Prose = ""
    sequence: Annotated[int | None, Field(ge=0, le=1_000_000, description="Place in the plan; default: as listed.")] = (
        None
    )
    parallel_group: Line | None = None
    depends_on: Annotated[
        tuple[Line | Dependency, ...], Field(max_length=1000, strict=False, description="Names of tasks."), FailFast()
    ] = ()
    estimated_complexity: Complexity | None = None
    files_likely_affected: Lines = ()
    capabilities: Lines = ()
    assigned_agent: Annotated[Name | None, Field(description="The only agent who may claim it.")] = None
    checks: Annotated[
        tuple[Detail, ...],
        Field(
            max_length=100,
            strict=False,
            description="What must hold before it counts as done: {shell}, {file}, {schema} or {approval}.",
        ),
        FailFast(),
    ] = ()


Tasks = Annotated[tuple[PlannedTask, ...], Field(min_length=1, max_length=5000, strict=False), FailFast()]


class WrittenPlan(Arguments):
    summary: Prose = ""
    approach: Prose = ""
    tasks: Tasks
    risks: Lines = ()
    assumptions: Lines = ()


async def check_schemas(tasks: Tasks) -> None:
    """PlanRefused if a check could never be made by the schema that it gives."""
    if found := evidence.schemas(check for one in tasks for check in one.checks):
        evidence.refuse_schema(await fitting.fault(found))


def plan_of(written: WrittenPlan, caller: Caller) -> Plan:
    return Plan(written.summary, written.approach, tasks_of(written.tasks, caller), written.risks, written.assumptions)


def tasks_of(written: Tasks, caller: Caller) -> tuple[Planned, ...]:
    return tuple(_task(one, caller) for one in written)


def _task(one: PlannedTask, caller: Caller) -> Planned:
    # A host runs such commands with the rights of whoever started it, whatever its agents are allowed.
    if caller.role != "operator" and any("shell" in check for check in one.checks):
        raise NotAllowed(
            f"The task {one.name!r} has a check that runs a command, which {caller.name} may not ask for.",
            "Such checks stand in the workflow file, or come from the operator.",
        )
    return Planned(
        one.name,
        one.description,
        tuple(_need(need) for need in one.depends_on),
        one.sequence,
        one.parallel_group,
        one.estimated_complexity,
        plans.assignee(one.assigned_agent),
        one.capabilities,
        one.files_likely_affected,
        tuple(dict(check) for check in one.checks),
    )


def _need(written: str | Dependency) -> Need:
    return Need(written) if isinstance(written, str) else Need(written.task, written.type)
