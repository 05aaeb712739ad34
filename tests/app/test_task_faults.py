"""`moot check` says what is wrong with the tasks of a file, each with its place, before anything is run."""

from pathlib import Path

import pytest

from moot.app import workflows
from moot.app.project import Project
from moot.workflow.workflow import WorkflowInvalid

TEAM = "agents: {ann: {backend: scripted}, ben: {backend: scripted}}\n"


def read(folder: Path, tasks: str) -> None:
    file = folder / "w.yaml"
    file.write_text(TEAM + tasks, encoding="utf-8")
    workflows.read(Project(folder), file)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("tasks", "fact", "remedy"),
    [
        ("tasks: [{name: a, agent: bens}]", "names `bens`, who is not among the agents", "Did you mean `ben`?"),
        ("tasks: [{name: a, depends_on: [b]}]", "'b', which is not in the plan", ""),
        ("tasks: [{name: fix}, {name: b, depends_on: [fx]}]", "'fx', which is not in the plan", "Did you mean `fix`?"),
        ("tasks: [{name: a, depends_on: [a]}]", "needs itself", ""),
        ("tasks: [{name: a, depends_on: [b]}, {name: b, depends_on: [a]}]", "a → b → a", "Take one of these"),
        ("tasks: [{name: a}, {name: \uff21}]", "Two tasks are named", ""),
        ("tasks: [{name: ''}]", "name", ""),
        ("tasks: [{name: a, checks: [{shell: x, file: y}]}]", "exactly one of shell, file, schema and approval", ""),
        ("tasks: [{name: a, checks: [{shell: x, timeuot: 1s}]}]", "'timeuot'", "Did you mean `timeout`?"),
        ("tasks: [{name: a, checks: [{file: /etc/passwd}]}]", "outside of the project", ""),
        ("tasks: [{name: a, checks: [{schema: {type: 7}}]}]", "is no JSON Schema: 7 is not valid", "json-schema.org"),
        ("tasks: [{name: a, depends_on: [{task: a, type: waits}]}]", "type", ""),
        ("tasks: [{name: a, descripton: x}]", "descripton", "description"),
        ('tasks: [{name: a, description: "${{ nothing }}"}]', "there is no variable `nothing`", ""),
        ('tasks: [{name: a, checks: [{shell: "x ${{ nothing }}"}]}]', "there is no variable `nothing`", ""),
        ("""tasks: [{name: a, checks: [{shell: "x '${{ instance }}'"}]}]""", "in single quotes", ""),
        ("tasks: [{name: a}]\nmax_parallel_tasks: 0", "max_parallel_tasks", ""),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, tasks: str, fact: str, remedy: str) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, tasks)
    (fault,) = caught.value.faults
    assert fact in fault.fact
    assert remedy in fault.remedy
    assert fault.line in (2, 3)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, "tasks: [{name: a, agent: eve, depends_on: [x], checks: [{}]}]")
    assert len(caught.value.faults) == 3


def test_nothing_is_wrong_with_a_plan_that_can_be_carried_out(tmp_path: Path) -> None:
    read(tmp_path, "tasks: [{name: a, agent: ANN}, {name: b, depends_on: [A, {task: a, type: informs}]}]")
