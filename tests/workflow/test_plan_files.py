"""Plan files: what is asked for, what is put in, and everything that may be wrong with one."""

from pathlib import Path

import pytest

from moot.core.errors import InvalidInput
from moot.workflow import plan_files
from moot.workflow.workflow import TaskDefinition, TaskNeed, WorkflowInvalid

FILE = """
name: fix ${{ inputs.issue }}
summary: Mend ${{ inputs.issue }}.
approach: As in ${{ inputs.like }}.
risks: ["${{ inputs.issue }} may be none"]
assumptions: [none]
inputs:
  issue: {type: number, required: true}
  like: {default: the book}
max_parallel_tasks: 3
auto_create_workspaces: true
tasks:
  - {name: fix, description: "Fix ${{ inputs.issue }}."}
  - {name: tests, depends_on: [fix, {task: docs, type: informs}], checks: [{shell: "test ${{ inputs.issue }}"}]}
  - {name: docs}
"""


def read(folder: Path, text: str, *given: str) -> plan_files.PlanFile:
    file = folder / "plan.yaml"
    file.write_text(text, encoding="utf-8")
    return plan_files.read(file, given)


def test_what_is_said_once_is_filled_in_and_tasks_keep_their_variables(tmp_path: Path) -> None:
    found = read(tmp_path, FILE, "issue=42")
    assert (found.name, found.summary, found.approach) == ("fix 42", "Mend 42.", "As in the book.")
    assert (found.risks, found.assumptions) == (("42 may be none",), ("none",))
    assert (found.max_parallel_tasks, found.makes_workspaces) == (3, True)
    assert found.values == {"inputs.issue": 42, "inputs.like": "the book"}
    assert found.tasks == (
        TaskDefinition("fix", "Fix ${{ inputs.issue }}."),
        TaskDefinition(
            "tests",
            needs=(TaskNeed("fix"), TaskNeed("docs", "informs")),
            checks=({"shell": "test ${{ inputs.issue }}"},),
        ),
        TaskDefinition("docs"),
    )


def test_what_is_not_said_is_little(tmp_path: Path) -> None:
    found = read(tmp_path, "tasks: [{name: a}]")
    assert (found.name, found.summary, found.max_parallel_tasks, found.makes_workspaces) == ("plan", "", 1, False)


@pytest.mark.parametrize("given", [(), ("issue=many",), ("issue=1", "other=2")])
def test_inputs_are_checked(tmp_path: Path, given: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput):
        read(tmp_path, FILE, *given)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "is empty"),
        ("tasks: []", "`tasks`"),
        ("{name: x}", "`tasks`"),
        ("tasks: [{name: a, dependson: [b]}]", "`dependson`"),
        ("tasks: [{name: a, estimated_complexity: huge}]", "estimated_complexity"),
        ("{max_parallel_tasks: 0, tasks: [{name: a}]}", "max_parallel_tasks"),
        ("{inputs: {x: {type: odd}}, tasks: [{name: a}]}", "inputs.x"),
        ('{name: "${{ inputs.x }}", tasks: [{name: a}]}', "`name`: there is no variable `inputs.x`"),
        ('{approach: "${{ inputs.x }}", tasks: [{name: a}]}', "`approach`: there is no variable `inputs.x`"),
        ('{risks: ["${{ inputs.x }}"], tasks: [{name: a}]}', "`risks item 1`: there is no variable `inputs.x`"),
        ('tasks: [{name: a, description: "${{ env.HOME }}"}]', "`tasks item 1, description`: there is no variable"),
        ('tasks: [{name: a, description: "${{ oh"}]', "`${{` is not closed on its line"),
        ('tasks: [{name: a, description: "${{ 1+1 }}"}]', "`1+1` is no name of a variable"),
        (
            'tasks: [{name: a, checks: [{shell: "x ${{ inputs.x }}"}]}]',
            "`tasks item 1, checks item 1, shell`: there",
        ),
        (
            "{inputs: {x: {default: one}}, tasks: [{name: a, checks: [{shell: \"echo '${{ inputs.x }}'\"}]}]}",
            "`tasks item 1, checks item 1, shell`: a variable stands",
        ),
    ],
)
def test_everything_that_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, fact: str) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, text)
    assert fact in f"{caught.value.fact} {[one.fact for one in caught.value.faults]}", caught.value.faults


def test_a_plan_is_written_without_what_was_left_out() -> None:
    said = plan_files.written("p", {"summary": "s", "approach": "", "risks": []}, [{"name": "a"}])
    assert said == {"name": "p", "summary": "s", "tasks": [{"name": "a"}]}
