"""Plan files: a plan by itself, with variables, that can be applied more than once."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from moot.core import problems, yaml
from moot.core.json import Json
from moot.core.problems import Problem
from moot.core.records import record
from moot.workflow import drafts, inputs, reading, shell, templates
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
    if said is not None:
        known = {f"inputs.{one.name}" for one in wanted}
        for problem in _mistaken(said, known):
            faults.add(document, problem)
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


def _mistaken(said: PlanShape, known: Collection[str]) -> Iterator[Problem]:
    """Variables that are none, that nobody asks for, or that a shell would not keep together."""
    for path, text in _texts(said):
        where = f"`{problems.spell(path)}`"
        for _, fact, remedy in templates.faults(text):
            yield Problem(path, f"{where}: {fact}", remedy)
        for name in dict.fromkeys(one.name for one in templates.places(text)):
            if name is not None and templates.is_name(name) and name not in known:
                yield Problem(path, f"{where}: there is no variable `{name[:80]}`", "Declare it under inputs.")
        for one in shell.unsafe(text) if path[-1] == "shell" else ():
            yield Problem(path, f"{where}: a variable stands {one.fact}", one.remedy)


def _texts(said: PlanShape) -> Iterator[tuple[yaml.Path, str]]:
    """Everything that variables may stand in."""
    yield from ((("name",), said.name or ""), (("summary",), said.summary), (("approach",), said.approach))
    yield from ((("risks", at), text) for at, text in enumerate(said.risks))
    yield from ((("assumptions", at), text) for at, text in enumerate(said.assumptions))
    for at, task in enumerate(said.tasks):
        yield ("tasks", at, "description"), task.description
        lines = ((number, check.get("shell")) for number, check in enumerate(task.checks))
        yield from ((("tasks", at, "checks", number, "shell"), one) for number, one in lines if isinstance(one, str))


def written(name: str, plan: Mapping[str, Json], tasks: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """A plan as it stands in a file; what was left out stays so."""
    said = {key: value for key, value in plan.items() if value}
    return {"name": name, **said, "tasks": [cast(Json, dict(one)) for one in tasks]}
