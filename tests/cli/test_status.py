"""`moot status`: how far plans have come and who is on what; followed, whenever that changes. What a run with tasks
says at its beginning and at its end."""

import json

import pytest

from tests.cli.terminal import Terminal, interrupt, read_line

PLAN = "{name: p, tasks: [{name: a}, {name: b, depends_on: [a]}, {name: c, checks: [{file: x}]}]}"
WORKFLOW = """
name: work
agents:
  ann: {backend: scripted, script: [{on: "TASK:.*bad", fail: it broke}, {on: TASK, say: It is done.}]}
context: {document_owner: none}
max_parallel_tasks: 2
tasks: [{name: one}, {name: two, depends_on: [one]}]
result: All is well in ${{ instance }}.
"""
RETRY = "retry: {attempts: 1}, backend: s"


@pytest.fixture
def planned(terminal: Terminal) -> Terminal:
    (terminal.folder / "p.yaml").write_text(PLAN, encoding="utf-8")
    terminal.ok("plan", "apply", "p.yaml")
    return terminal


def test_a_plan_and_who_is_on_what_are_shown(planned: Terminal) -> None:
    planned.ok("task", "done", "a", "--outcome", "x")
    planned.ok("task", "claim", "c")
    lines = planned.ok("status").out.splitlines()
    assert lines[1] == f"  {'█' * 8}{'░' * 16} 1 of 3 tasks, 1 at work  p, in_progress"
    assert lines[2].split() == ["human", "person", "on", "c"]
    (told,) = planned.ok("status", "--json").json
    assert [one["tasks"] for one in told["agents"]] == [["c"]]
    (plan,) = told["plans"]
    assert {key: plan[key] for key in ("name", "status", "total_tasks", "completed_tasks", "at_work")} == {
        "name": "p", "status": "in_progress", "total_tasks": 3, "completed_tasks": 1, "at_work": 1,
    }  # fmt: skip


def test_why_a_plan_does_not_go_on_is_said(planned: Terminal) -> None:
    planned.ok("task", "fail", "a", "--error", "it broke")
    id = planned.ok("task", "show", "a", "--json").json["id"]
    shown = planned.ok("status").out
    assert f"! the plan p has failed tasks: a; try one again with: moot task retry {id}\n" in shown
    planned.ok("task", "skip", "a")
    skipped = planned.ok("status").out
    assert "failed tasks" not in skipped
    assert "! nobody is at work on the plan p; to be claimed: b, c\n" in skipped
    planned.ok("task", "done", "c", "--outcome", "x")
    assert "! c waits for its checks and no host is running; start one with: moot serve\n" in planned.ok("status").out


def test_a_plan_that_is_over_is_not_shown(planned: Terminal) -> None:
    for name in "abc":
        planned.ok("task", "skip", name)
    assert "tasks" not in planned.ok("status").out


def test_followed_it_is_told_again_when_it_has_changed(planned: Terminal) -> None:
    process = planned.start("status", "-f", "--json")

    def at_work() -> tuple[int, int]:
        (plan,) = json.loads(read_line(process))[0]["plans"]
        return plan["completed_tasks"], plan["at_work"]

    try:
        assert at_work() == (0, 0)
        planned.ok("task", "claim", "a")
        assert at_work() == (0, 1)
        planned.ok("task", "done", "a", "--outcome", "x")
        assert at_work() == (1, 0)
    finally:
        ended = interrupt(process)
    assert (ended.code, ended.err) == (130, "")


def test_on_a_terminal_it_is_drawn_anew_in_the_same_place(planned: Terminal) -> None:
    with planned.typing("status", "-f") as session:
        session.until("0 of 3 tasks, 1 blocked")
        planned.ok("task", "claim", "a")
        session.until("0 of 3 tasks, 1 at work, 1 blocked")
        session.interrupt()
        assert session.shown.count("\x1b[H\x1b[2J") == session.shown.count("0 of 3 tasks")


def test_a_run_says_what_is_planned_and_what_came_of_it(terminal: Terminal) -> None:
    (terminal.folder / "w.yaml").write_text(WORKFLOW, encoding="utf-8")
    assert "tasks      2, at most 2 at once\n" in terminal.ok("check", "w.yaml").out
    ran = terminal.ok("run", "w.yaml").out
    assert "tasks: 2, at most 2 at once\n" in ran
    assert " · 2 of 2 tasks · " in ran
    assert ran.splitlines()[-1] == "All is well in default."


def test_a_run_with_a_failed_task_ends_in_1_and_names_it(terminal: Terminal) -> None:
    bad = WORKFLOW.replace("name: one}", "name: bad}").replace("[one]", "[bad]").replace("backend: s", RETRY)
    (terminal.folder / "w.yaml").write_text(bad, encoding="utf-8")
    ended = terminal.run("run", "w.yaml", "--json")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    (end,) = [one for one in lines if one["type"] == "end"]
    (summary,) = [one for one in lines if one["type"] == "summary"]
    assert (ended.code, end["exit_code"], summary["tasks"]) == (1, 1, {"total": 2, "done": 0})
    assert "bad" in end["reason"], end
