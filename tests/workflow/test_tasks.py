"""The tasks of a file: what may be said of them, and the variables in their texts."""

from pathlib import Path

from moot.workflow import reading, variables
from moot.workflow.reading import Surroundings
from moot.workflow.workflow import TaskDefinition, TaskNeed

FILE = """
agents: {ann: {backend: scripted}}
inputs: {issue: {type: number}}
maxParallelTasks: 3
together: true
tasks:
  - {name: fix, description: "Fix ${{ inputs.issue }}.", agent: ann, parallelGroup: g, filesLikelyAffected: [a.py]}
  - name: tests
    depends_on: [fix, {task: docs, type: informs}]
    estimated_complexity: high
    capabilities: [python]
    checks: [{shell: make test}, {approval: human}]
  - {name: docs}
"""


def test_a_plan_is_read_with_all_that_is_said_of_its_tasks(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(FILE)
    workflow = reading.draft(file).finish()
    assert (workflow.max_parallel_tasks, workflow.is_together) == (3, True)
    assert workflow.tasks == (
        TaskDefinition("fix", "Fix ${{ inputs.issue }}.", agent="ann", parallel_group="g", files=("a.py",)),
        TaskDefinition(
            "tests",
            needs=(TaskNeed("fix"), TaskNeed("docs", "informs")),
            complexity="high",
            capabilities=("python",),
            checks=({"shell": "make test"}, {"approval": "human"}),
        ),
        TaskDefinition("docs"),
    )


def test_what_tasks_want_of_the_environment_is_taken_along(tmp_path: Path) -> None:
    """Later there is only what was written down with the run."""
    file = tmp_path / "plan.yaml"
    file.write_text(
        "agents: {ann: {backend: scripted}}\n"
        'tasks: [{name: a, description: "${{ env.ONE }}", checks: [{shell: "test ${{ env.TWO }}"}]}]\n'
    )
    workflow = reading.draft(file, Surroundings(environ={"ONE": "1", "TWO": "2"})).finish()
    found = variables.values(workflow, "default", {}, {"ONE": "1", "TWO": "2"})
    assert (found["env.ONE"], found["env.TWO"]) == ("1", "2")
