"""The steps of a run as somebody sees them who attends it, and what `moot status` says of them."""

import json
import re
import subprocess

from tests.cli.terminal import Terminal, read_line

ERASED = "\x1b[J"
STEPS = """
name: mend
default_state: {raw: {n: 0}}
steps:
  - id: count
    type: foreach
    items: "{{ [1, 2, 3] }}"
    steps: [{type: state_update, path: raw.n, value: "{{ item }}"}]
  - {id: check, type: shell_command, command: "echo checked"}
  - {id: tell, type: user_message, message: "n is {{ n }}"}
  - {id: breaks, type: shell_command, command: "exit 3", on_error: continue}
"""
TASKS = """
name: share
steps:
  - {id: all, type: parallel_foreach, items: "{{ ['a', 'b', 'c'] }}", max_parallel: 2, sub_agent_task: one}
sub_agent_tasks:
  one:
    inputs: {item: {type: string}}
    steps: [{id: work, type: shell_command, command: "until test -e go; do sleep 0.05; done; echo {{ item }}"}]
"""
SECTIONS = """
name: all
agents: {ann: {backend: scripted, script: [{on: hello, say: Hello.}, {on: TASK, say: Mended.}]}}
context: {document_owner: none}
kickoff: "@ann hello"
tasks: [{name: mend, description: Mend it., agent: ann}]
steps: [{id: tell, type: user_message, message: All is said and done.}]
"""
ASKS = """
name: ask
steps:
  - {id: colour, type: user_input, prompt: "Which colour?", state_update: {path: raw.colour}}
  - {id: paint, type: shell_command, command: "echo {{ colour }}"}
"""


def put(terminal: Terminal, text: str) -> None:
    (terminal.folder / "f.yaml").write_text(text, encoding="utf-8")


def lines(out: str) -> list[str]:
    """Without times, and without how long a step took where that was long enough to be told."""
    found = [line[9:] for line in out.splitlines() if line[8:9] == " " and line[2:3] == ":"]
    return [re.sub(r"  \d+\.\d s(?=:|$)", "", line) for line in found]


def test_without_a_terminal_there_is_a_line_for_what_somebody_did(either: Terminal) -> None:
    put(either, STEPS)
    out = either.ok("run", "f.yaml").out
    assert lines(out) == [
        "✓ check.shell_command  echo checked",
        "system [status]  n is 3",
        "✗ breaks.shell_command  exit 3: It failed with exit code 3.",
    ]
    assert "\x1b" not in out
    (last,) = [line for line in out.splitlines() if line.startswith("done in")]
    assert last.split(" · ")[1:] == ["10 steps", "1 message", "$0.00"]


def test_talk_tasks_and_steps_of_one_file_follow_one_another_and_end(either: Terminal) -> None:
    put(either, SECTIONS)
    either.ok("run", "f.yaml")
    said = [one["message"].splitlines()[0].partition("]")[2].strip() or one["message"] for one in _log(either)]
    assert said == ["@ann hello", "Hello.", "mend", "Mended.", "All is said and done."]
    put(either, SECTIONS + "together: true\n")
    either.ok("run", "f.yaml")
    assert len(_log(either)) == 2 * len(said)


def _log(terminal: Terminal) -> list[dict[str, str]]:
    return terminal.ok("log", "--json").json


def test_who_wants_to_see_all_sees_every_step_once(terminal: Terminal) -> None:
    put(terminal, STEPS)
    shown = [line.split()[1] for line in lines(terminal.ok("run", "f.yaml", "--verbose").out) if line[0] in "✓✗"]
    assert shown == [
        "count.foreach", "count.steps[1].0.state_update",
        "count.foreach", "count.steps[2].0.state_update",
        "count.foreach", "count.steps[3].0.state_update",
        "count.foreach", "check.shell_command", "tell.user_message", "breaks.shell_command",
    ]  # fmt: skip


def test_programs_are_told_each_step_as_a_line_of_json(terminal: Terminal) -> None:
    put(terminal, STEPS)
    told = [json.loads(line) for line in terminal.ok("run", "f.yaml", "--json").out.splitlines()]
    steps = [one for one in told if one["type"] == "step"]
    assert [(one["step_id"], one["kind"], one["status"]) for one in steps] == [
        ("check.shell_command", "shell_command", "success"),
        ("tell.user_message", "user_message", "success"),
        ("breaks.shell_command", "shell_command", "failed"),
    ]
    assert told[-1]["steps"] == {"taken": 10, "status": "completed", "error": None}


def test_a_step_that_ends_the_run_is_named_with_its_reason(terminal: Terminal) -> None:
    put(terminal, STEPS.replace(", on_error: continue", ""))
    ended = terminal.run("run", "f.yaml")
    assert ended.code == 1
    assert any(one.startswith("✗ breaks.shell_command: breaks failed: exit code 3") for one in lines(ended.out))
    assert "breaks failed: exit code 3" in ended.err
    assert "failed after" in ended.out
    assert "! the run failed: breaks failed" in terminal.ok("status").out


def test_on_a_terminal_it_is_shown_where_the_flow_is_and_what_went_wrong_stays(terminal: Terminal) -> None:
    put(terminal, STEPS.replace("echo checked", "sleep 0.2"))
    shown = terminal.show("run", "f.yaml", env={"NO_COLOR": "1"})
    assert "▸ mend: 7 steps" in shown
    assert "  check.shell_command  sleep 0.2" in shown
    left = "\n".join(line.rpartition(ERASED)[2] for line in shown.splitlines())
    assert "✓ check" not in left
    assert re.search(r"✗ breaks\.shell_command  exit 3(  \d.* s)?: It failed with exit code 3\.", left)
    assert "▸" not in left[left.index("done in") :]


def test_a_dumb_terminal_gets_plain_lines(terminal: Terminal) -> None:
    put(terminal, STEPS)
    shown = terminal.show("run", "f.yaml", env={"TERM": "dumb"})
    assert "\x1b" not in shown
    assert "✓ check.shell_command  echo checked" in shown


def test_sub_agents_are_shown_by_their_tasks(terminal: Terminal) -> None:
    put(terminal, TASKS)
    with terminal.typing("run", "f.yaml") as session:
        session.until("  all_1: work.shell_command")
        (told,) = terminal.ok("status", "--json").json
        (flow,) = told["flows"]
        assert [(one["task_id"], one["status"]) for one in flow["at"]] == [
            (None, "forked"), ("all_0", "doing"), ("all_1", "doing"), ("all_2", "ready"),
        ]  # fmt: skip
        assert flow["at"][0]["waits"] == "for its tasks, 0 of 3 tasks done"
        assert "  ▸ share: 0 steps, 0 of 3 tasks" in terminal.ok("status").out.splitlines()
        (terminal.folder / "go").touch()
        session.until("done in")
    assert session.code == 0
    steps = terminal.ok("flow", "trace", "--json").json["steps"]
    assert {one["task_id"] for one in steps if one["type"] == "shell_command"} == {"all_0", "all_1", "all_2"}


def test_a_question_is_typed_where_no_line_is_drawn_over_it(terminal: Terminal) -> None:
    put(terminal, ASKS)
    with terminal.typing("run", "f.yaml") as session:
        session.until("waits for you: type an answer\n")
        session.type("red")
        session.until("paint.shell_command  echo red")
        session.until("done in")
    assert "▸ ask: 0 steps" in session.shown
    assert "waits for human to answer" not in session.shown
    assert session.code == 0


def test_an_empty_line_takes_the_default_of_a_question(terminal: Terminal) -> None:
    put(
        terminal,
        "steps: [{type: user_input, prompt: Which?, default: blue, state_update: {path: raw.a}}]\nresult: '{{ a }}'",
    )
    with terminal.typing("run", "f.yaml") as session:
        session.until("An empty answer means: blue")
        session.until("waits for you: type an answer\n")
        session.type("")
        session.until("done in")
        session.until("\nblue\n")
    assert session.code == 0


PAUSED = """
steps:
  - {id: first, type: shell_command, command: "touch begun; until test -e go; do sleep 0.02; done"}
  - {id: second, type: shell_command, command: "test -e resumed"}
"""


def test_who_pauses_a_run_lets_its_command_end_and_begins_no_other(terminal: Terminal) -> None:
    put(terminal, PAUSED)
    with terminal.typing("run", "f.yaml") as session:
        session.until("first.shell_command  touch begun")
        assert "f@default is paused" in terminal.ok("pause").out
        (terminal.folder / "go").touch()
        session.until("▸ f: 1 step")
        assert "the run is paused; go on with: moot resume" in terminal.ok("status").out
        (terminal.folder / "resumed").touch()
        terminal.ok("resume")
        session.until("done in")
    assert session.code == 0
    taken = terminal.ok("flow", "trace", "--json").json["steps"]
    assert [(one["step_id"], one["status"]) for one in taken] == [
        ("first.shell_command", "success"), ("second.shell_command", "success"),
    ]  # fmt: skip


def test_why_a_flow_does_not_move_is_said(either: Terminal) -> None:
    put(either, ASKS)
    assert either.run("run", "f.yaml").code == 4
    shown = either.ok("status").out.splitlines()
    assert "    colour.user_input  Which colour?, waits for human to answer: Which colour?" in shown
    (listed,) = either.ok("flow", "ls", "--json").json
    assert (listed["step"], listed["waits_for"]) == ("colour.user_input", "person")


def test_a_flow_that_waits_for_leave_says_how_to_give_it(terminal: Terminal) -> None:
    put(terminal, STEPS)
    process = terminal.start("run", "f.yaml", "--step", "--instance", "other")
    with process:
        try:
            _until(process, "the next step waits for: moot flow step --instance other: count.foreach")
            reasons = terminal.ok("status", "--json").json[0]["reasons"]
            assert reasons == ["mend waits for you to let it take the next step: moot flow step --instance other"]
        finally:
            process.kill()


def _until(process: "subprocess.Popen[bytes]", text: str) -> None:
    while text not in (line := read_line(process)):
        assert line, f"{text} was not said"
