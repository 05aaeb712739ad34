"""`moot plan`: a plan from a file, how far it has come, as a picture, and saved to be applied again."""

import json
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from tests.cli.terminal import Ended, Terminal

PLAN = """
name: release ${{ inputs.version }}
summary: Bring out ${{ inputs.version }}.
risks: [it may rain]
inputs: {version: {required: true}}
max_parallel_tasks: 2
tasks:
  - {name: fix, description: "Fix what ${{ inputs.version }} needs."}
  - name: tests
    depends_on: [fix, {task: docs, type: informs}]
    checks: [{shell: "test -e ${{ inputs.version }}"}, {approval: human}]
    estimated_complexity: high
    capabilities: [python]
    files_likely_affected: [a.py]
    parallel_group: after
  - {name: docs, agent: ann, parallel_group: after}
"""


def put(terminal: Terminal, text: str = PLAN, name: str = "release.yaml") -> None:
    (terminal.folder / name).write_text(text, encoding="utf-8")


def apply(terminal: Terminal, *words: str) -> dict[str, Any]:
    return terminal.ok("plan", "apply", *(words or ("release.yaml", "--input", "version=1.2")), "--json").json


def code_of(ended: Ended) -> tuple[int, str]:
    return ended.code, ended.err.split(": ")[1] if ": " in ended.err else ended.err


def test_without_a_plan_there_is_a_hint_and_no_store(terminal: Terminal) -> None:
    assert terminal.ok("plan", "ls").out == "no plans yet; apply one with: moot plan apply FILE\n"
    assert terminal.ok("plan", "ls", "--json").json == []
    assert terminal.run("plan", "show").code == 1
    assert not (terminal.folder / ".workflow").exists()


def test_a_plan_is_applied_listed_and_shown(both: Terminal) -> None:
    put(both)
    made = apply(both)
    id = made.pop("workflow_id")
    assert made == {
        "name": "release 1.2", "status": "ready", "tasks_created": 3, "tasks_kept": 0, "tasks_removed": 0,
    }  # fmt: skip
    (line,) = both.ok("plan", "ls", "--json").json
    assert (line["id"], line["name"], line["status"], line["max_parallel_tasks"]) == (id, "release 1.2", "ready", 2)
    listed = both.ok("plan", "ls").out.splitlines()
    assert listed[0].split() == ["ID", "STATUS", "NAME", "CREATED"]
    assert listed[1].startswith(f"{id}  ready        release 1.2")
    shown = both.ok("plan", "show").out.splitlines()
    assert shown[:3] == [f"release 1.2  {id}  ready", "  Bring out 1.2.", f"  {'░' * 24} 0 of 3 tasks, 1 blocked"]
    assert [one.split() for one in shown[3:]] == [
        ["fix", "pending"],
        ["tests", "blocked", "waits", "for", "fix"],
        ["docs", "pending"],
    ]
    told = both.ok("plan", "show", "release 1.2", "--json").json
    assert (told["workflow_id"], told["total_tasks"], told["blocked_tasks"]) == (id, 3, 1)
    assert told["plan"] == {"summary": "Bring out 1.2.", "approach": "", "risks": ["it may rain"], "assumptions": []}


def test_what_is_done_fills_the_bar(terminal: Terminal) -> None:
    put(terminal)
    apply(terminal)
    terminal.ok("task", "done", "fix", "--outcome", "It was line 7.")
    terminal.ok("task", "claim", "tests")
    assert "\\x1b" not in terminal.show("plan", "show")  # no codes that somebody would have to read
    shown = terminal.ok("plan", "show").out.splitlines()
    assert shown[2] == f"  {'█' * 8}{'░' * 16} 1 of 3 tasks, 1 at work"
    assert [one.split()[:4] for one in shown[3:]] == [
        ["fix", "completed", "It", "was"],
        ["tests", "planning", "human"],
        ["docs", "pending"],
    ]


def test_a_plan_applied_onto_another_keeps_what_is_done(terminal: Terminal) -> None:
    put(terminal)
    id = apply(terminal)["workflow_id"]
    terminal.ok("task", "done", "fix", "--outcome", "done")
    put(terminal, "tasks: [{name: fix}, {name: more, depends_on: [fix]}]")
    again = terminal.ok("plan", "apply", "release.yaml", "--onto", id)
    assert again.out == f"{id} (release 1.2) is in_progress: 1 task added, 1 kept, 2 removed\n"
    found = {one["name"]: one["status"] for one in terminal.ok("task", "ls", "--json").json}
    assert found == {"fix": "completed", "more": "pending"}


def test_a_plan_is_drawn_in_columns_and_as_a_picture(terminal: Terminal) -> None:
    put(terminal)
    id = apply(terminal)["workflow_id"]
    lines = [one.split() for one in terminal.ok("plan", "draw").out.splitlines()]
    assert [one[0] for one in lines] == ["1.", "fix", "docs", "2.", "tests"]
    assert terminal.ok("plan", "draw", "--svg", "plan.svg").out == "plan.svg is written\n"
    root = xml.fromstring((terminal.folder / "plan.svg").read_text(encoding="utf-8"))
    assert len(root.findall(".//{*}rect")) == 3
    assert terminal.ok("plan", "draw", "--json").json == {
        "workflow_id": id,
        "name": "release 1.2",
        "tasks": [
            {"name": "fix", "status": "pending", "needs": []},
            {"name": "tests", "status": "blocked", "needs": ["fix", "docs"]},
            {"name": "docs", "status": "pending", "needs": []},
        ],
    }


def test_a_plan_that_is_saved_is_applied_again_as_it_was(terminal: Terminal) -> None:
    put(terminal)
    first = apply(terminal)["workflow_id"]
    saved = terminal.ok("plan", "save", "release")
    file = terminal.folder / ".moot/plans/release.yaml"
    assert saved.out == f"{file} is written; apply it with: moot plan apply release\n"
    said = json.loads(file.read_text())
    assert (said["name"], said["max_parallel_tasks"], said["risks"]) == ("release 1.2", 2, ["it may rain"])
    assert said["tasks"][1] == {
        "name": "tests",
        "depends_on": ["fix", {"task": "docs", "type": "informs"}],
        "checks": [{"shell": "test -e '1.2'"}, {"approval": "human"}],
        "estimated_complexity": "high",
        "capabilities": ["python"],
        "files_likely_affected": ["a.py"],
        "parallel_group": "after",
    }
    second = apply(terminal, "release")["workflow_id"]
    assert second != first
    ended = terminal.run("plan", "show")
    assert code_of(ended) == (2, "WORKFLOW_UNCLEAR")
    assert first in ended.err
    assert second in ended.err
    terminal.ok("plan", "save", "again", "--plan", second)
    assert (terminal.folder / ".moot/plans/again.yaml").read_text() == file.read_text()
    assert code_of(terminal.run("plan", "save", "again", "--plan", second)) == (2, "PLAN_SAVED")
    assert code_of(terminal.run("plan", "save", "../x", "--plan", second))[0] == 2
    assert not (terminal.folder / ".moot/x.yaml").exists()


def test_all_that_a_task_needs_is_saved(terminal: Terminal) -> None:
    """However many that are."""
    names = [f"t{number}" for number in range(150)]
    tasks = [*({"name": name} for name in names), {"name": "last", "depends_on": names}]
    put(terminal, json.dumps({"name": "wide", "tasks": tasks}))
    apply(terminal, "release.yaml")
    terminal.ok("plan", "save", "wide")
    saved = json.loads((terminal.folder / ".moot/plans/wide.yaml").read_text())
    assert (len(saved["tasks"]), saved["tasks"][-1]["depends_on"]) == (151, names)


def test_a_variable_may_be_put_into_a_plan_that_was_saved(terminal: Terminal) -> None:
    put(terminal, "{name: p, tasks: [{name: fix, description: Fix 41.}]}")
    apply(terminal, "release.yaml")
    terminal.ok("plan", "save", "fix")
    file = terminal.folder / ".moot/plans/fix.yaml"
    said = json.loads(file.read_text())
    said["tasks"][0]["description"] = "Fix ${{ inputs.issue }}."
    file.write_text(json.dumps({**said, "inputs": {"issue": {"type": "number", "required": True}}}))
    assert terminal.run("plan", "apply", "fix").code == 2
    id = apply(terminal, "fix", "--input", "issue=42")["workflow_id"]
    assert terminal.ok("task", "show", "fix", "--plan", id, "--json").json["description"] == "Fix 42."


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("tasks: [{name: a, dependson: [b]}]", "bad.yaml:1:19: "),
        ("tasks: [{name: a, depends_on: [b]}, {name: b, depends_on: [a]}]", "a → b → a"),
        ("tasks: [{name: a, checks: [{shel: x}]}]", "A check has exactly one of"),
        (
            "tasks: [{name: a, checks: [{schema: {type: 7}}]}]",
            "The schema of a check is no JSON Schema: 7 is not valid",
        ),
        ('tasks: [{name: "a\\0b"}]', "bad.yaml:1:16: this text holds a NUL character."),
    ],
)
def test_a_plan_with_a_fault_makes_nothing(terminal: Terminal, text: str, fact: str) -> None:
    put(terminal, text, "bad.yaml")
    ended = terminal.run("plan", "apply", "bad.yaml")
    assert (ended.code, ended.out) == (2, ""), ended
    assert fact in ended.err, ended.err
    assert terminal.ok("plan", "ls", "--json").json == []


def test_what_is_not_there_is_refused(terminal: Terminal) -> None:
    assert terminal.run("plan", "apply", "nowhere").code == 2
    assert terminal.run("plan", "apply", "nowhere.yaml").code == 2
    assert terminal.run("plan", "apply").code == 2
    put(terminal)
    apply(terminal)
    for words in (("show", "x"), ("draw", "x"), ("save", "y", "--plan", "x")):
        assert code_of(terminal.run("plan", *words)) == (1, "WORKFLOW_NOT_FOUND")
    assert code_of(terminal.run("plan", "apply", "release.yaml", "--input", "version=1", "--onto", "x")) == (
        1,
        "WORKFLOW_NOT_FOUND",
    )
    refused = terminal.run("plan", "show", "x", "--json")
    assert json.loads(refused.err)["error"]["code"] == "WORKFLOW_NOT_FOUND"
    assert terminal.run("plan", "draw", "--svg", "nowhere/plan.svg").code == 2


def test_another_instance_has_plans_of_its_own(terminal: Terminal) -> None:
    put(terminal)
    apply(terminal)
    assert code_of(terminal.run("plan", "ls", "--instance", "other")) == (1, "INSTANCE_NOT_FOUND")
    put(terminal, "tasks: [{name: z}]", "other.yaml")
    terminal.ok("plan", "apply", "other.yaml", "--instance", "other")
    assert [one["name"] for one in terminal.ok("plan", "ls", "--instance", "other", "--json").json] == ["other"]
    assert [one["name"] for one in terminal.ok("plan", "ls", "--json").json] == ["release 1.2"]
