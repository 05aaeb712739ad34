"""Plan files: a plan by itself, with variables, that can be applied more than once."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from moot.core.json import Json
from moot.core.problems import Problem
from moot.core.records import record
from moot.workflow import drafts, inputs, reading, templates
from moot.workflow.drafts import Faults
from moot.workflow.shape import PlanShape
from moot.workflow.workflow import TaskDefinition, Value, WorkflowInvalid


@record
class PlanFile:
    """Texts of tasks still hold their variables; the rest is filled in."""

    name: str
    summary: str
    approach: str
    risks: tuple[str, ...]
    assumptions: tuple[str, ...]
    max_parallel_tasks: int
    makes_workspaces: bool
    tasks: tuple[TaskDefinition, ...]
    values: Mapping[str, Value]  # of its variables


def read(file: Path, given: Sequence[str] = ()) -> PlanFile:
    """WorkflowInvalid with all that is wrong; `given` is what `--input` says."""
    document = drafts.read_document(file)
    if document.data is None:
        raise WorkflowInvalid(f"{document.name} is empty.", "See docs/plans.md for an example.")
    faults = Faults()
    said = drafts.fit(PlanShape, document, faults)
    wanted = reading.inputs_of(said.inputs or {}, document, faults) if said else ()
    known = {f"inputs.{one.name}" for one in wanted}
    if said is not None:
        for at, task in enumerate(said.tasks):
            for place in templates.places(task.description):
                if place.name is not None and place.name not in known:
                    fact = f"there is no variable `{place.name[:80]}`"
                    faults.add(document, Problem(("tasks", at, "description"), fact, "Declare it under inputs."))
    faults.refuse(document.name)
    assert said is not None
    values = {f"inputs.{name}": value for name, value in inputs.parse(wanted, given, Path.cwd()).items()}

    def fill(text: str) -> str:
        return templates.expand(text, values).text

    return PlanFile(
        name=fill(said.name or file.stem),
        summary=fill(said.summary),
        approach=fill(said.approach),
        risks=tuple(map(fill, said.risks)),
        assumptions=tuple(map(fill, said.assumptions)),
        max_parallel_tasks=said.max_parallel_tasks,
        makes_workspaces=said.auto_create_workspaces,
        tasks=tuple(reading.task_of(one) for one in said.tasks),
        values=values,
    )


def written(name: str, plan: Mapping[str, Json], tasks: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """A plan as it stands in a file; what was left out stays so."""
    said = {key: value for key, value in plan.items() if value}
    return {"name": name, **said, "tasks": [cast(Json, dict(one)) for one in tasks]}
