"""`moot flow`: where workflows with steps are, their state, what they did, and one step more."""

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from tests.cli.terminal import Terminal, finish, read_line

COUNT = """
name: count
inputs: {most: {type: number, default: 2}}
default_state: {raw: {n: 0, deep: {"odd.name": [1, 2]}}}
state_schema:
  computed:
    double: {from: raw.n, transform: "input * 2"}
    far:
      {from: [raw.n, computed.double], transform: "input[0] + input[1] + limit", on_error: use_fallback, fallback: -1}
steps:
  - {id: look, type: shell_command, command: "echo seven", output_format: text, state_update: {path: raw.word}}
  - id: again
    type: while
    condition: "{{ n < inputs.most }}"
    body:
      - {id: up, type: state_update, path: raw.n, operation: increment}
  - {id: fails, type: shell_command, command: "exit 3", on_error: continue}
result: "{{ double }}"
"""


def put(terminal: Terminal, text: str = COUNT, name: str = "count.yaml") -> None:
    (terminal.folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def counted(both: Terminal) -> Terminal:
    put(both)
    both.ok("run", "count.yaml")
    return both


def test_without_a_flow_there_is_a_hint_and_no_store(terminal: Terminal) -> None:
    assert terminal.ok("flow", "ls").out == "no workflow with steps was begun here; begin one with: moot run FILE\n"
    assert terminal.ok("flow", "ls", "--json").json == []
    assert not (terminal.folder / ".workflow").exists()
    terminal.ok("send", "@nobody hello")
    assert "No workflow with steps was begun here." in terminal.run("flow", "state").err


def test_flows_are_listed_with_where_they_are(counted: Terminal) -> None:
    (told,) = counted.ok("flow", "ls", "--json").json
    assert told["name"] == "count"
    assert (told["status"], told["driven_by"], told["steps_taken"], told["waits_for"]) == ("completed", "moot", 7, None)
    heading, line = counted.ok("flow", "ls").out.splitlines()
    assert heading.split() == ["ID", "NAME", "STATUS", "STEPS", "WHERE"]
    assert line.split() == [told["workflow_id"], "count", "completed", "7"]


def test_the_state_is_flat_unless_its_sections_are_wanted(counted: Terminal) -> None:
    (id,) = [one["workflow_id"] for one in counted.ok("flow", "ls", "--json").json]
    whole = counted.ok("flow", "state", "--json").json
    assert (whole["n"], whole["double"], whole["far"], whole["word"]) == (2, 4, -1, "seven")
    assert "double = 4" in counted.ok("flow", "state").out.splitlines()
    apart = counted.ok("flow", "state", "--sections", "--json").json
    assert apart["computed"] == {"double": 4, "far": -1}
    assert apart["raw"]["n"] == 2
    shown = counted.ok("flow", "state", "--sections").out.splitlines()
    assert shown.index("raw") < shown.index("computed") < shown.index("  double = 4")
    assert counted.ok("flow", "state", id, "computed.double").out == "4\n"
    assert counted.ok("flow", "state", "count", "word").out == "seven\n"
    assert counted.ok("flow", "state", "n", "double", "--json").json == {"n": 2, "double": 4}
    unknown = counted.run("flow", "state", "nowhere")
    assert (unknown.code, "There is nothing at nowhere." in unknown.err) == (1, True)
    assert "There is no workflow 'wf_other' with steps here." in counted.run("flow", "state", "wf_other").err


def test_a_checkpoint_is_looked_at_by_its_id(terminal: Terminal) -> None:
    put(terminal, COUNT.replace(", on_error: continue", ""))
    assert terminal.run("run", "count.yaml").code == 1
    wrong = terminal.run("flow", "state", "--checkpoint", "ck_none")
    assert (wrong.code, "count has no checkpoint 'ck_none'." in wrong.err) == (1, True)
    (kept,) = [word for word in wrong.err.split() if word.startswith("ck_01")]
    assert terminal.ok("flow", "state", "--checkpoint", kept, "n", "--json").json == 2
    assert terminal.ok("flow", "state", "--checkpoint", kept, "--json").json["double"] == 4


def test_the_trace_tells_steps_with_their_time_and_what_was_computed(counted: Terminal) -> None:
    told = counted.ok("flow", "trace", "--json").json
    assert [(one["step_id"], one["status"], one["by"]) for one in told["steps"]] == [
        ("look.shell_command", "success", "moot"),
        ("again.while", "success", "moot"),
        ("again.body[1].up.state_update", "success", "moot"),
        ("again.while", "success", "moot"),
        ("again.body[2].up.state_update", "success", "moot"),
        ("again.while", "success", "moot"),
        ("fails.shell_command", "failed", "moot"),
    ]
    look = told["steps"][0]
    assert look["started_at"] < look["completed_at"]
    assert [(one["field"], one["trigger"], one["output"]) for one in told["traces"] if one["field"] == "double"] == [
        ("double", "raw.n", "0"),
        ("double", "raw.n", "2"),
        ("double", "raw.n", "4"),
    ]
    assert all(one["duration_ms"] > 0 for one in told["traces"])
    assert {one["error"] for one in told["traces"] if one["field"] == "far"} == {"ReferenceError: limit is not defined"}
    shown = counted.ok("flow", "trace", "-n", "1").out.splitlines()
    assert shown[2].split()[:1] == ["7"]
    assert shown[2].endswith("fails.shell_command: It failed with exit code 3.")
    only = counted.ok("flow", "trace", "count", "--field", "computed.double", "--json").json
    assert ("steps" in only, {one["field"] for one in only["traces"]}) == (False, {"double"})


def test_a_transform_is_tried_without_a_store(terminal: Terminal) -> None:
    assert terminal.ok("flow", "test", "input.map(x => x * 2)", "--input", "[1, 2]", "--json").json["output"] == [2, 4]
    tried = terminal.ok("flow", "test", "input + more", "--input", "1", "--context", '{"more": 2}')
    assert tried.out == "3\n"
    assert tried.err.startswith("in ")
    (terminal.folder / "t.js").write_text("return input.length")
    assert terminal.ok("flow", "test", "@t.js", "--input", '"four"').out == "4\n"
    failed = terminal.run("flow", "test", "input.nothing()", "--input", "1")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err == "it failed: TypeError: not a function (line 1)\n"
    assert terminal.run("flow", "test", "input", "--input", "{").code == 2
    assert terminal.run("flow", "test", "--input", "1").code == 2
    assert not (terminal.folder / ".workflow").exists()


def test_a_computed_field_of_a_file_is_tried_as_it_stands_there(terminal: Terminal) -> None:
    put(terminal)
    words = ("flow", "test", "--file", "count.yaml", "--field")
    assert terminal.ok(*words, "double", "--input", "4").out == "8\n"
    assert terminal.ok(*words, "computed.far", "--input", "[1, 2]", "--json").json["output"] == -1
    assert terminal.ok(*words, "far", "--input", "[1, 2]", "--context", '{"limit": 10}').out == "13\n"
    short = terminal.run(*words, "far", "--input", "[1]")
    assert (short.code, "Give --input as a list of these: raw.n, computed.double." in short.err) == (2, True)
    unknown = terminal.run(*words, "duble", "--input", "1")
    assert (unknown.code, "double" in unknown.err) == (2, True)


def test_a_flow_and_a_file_are_drawn(terminal: Terminal) -> None:
    put(terminal)
    words = ("flow", "draw")
    assert terminal.run(*words).code == 1
    from_file = terminal.ok(*words, "count.yaml").out
    assert [line.split()[:2] for line in from_file.splitlines()[3:6]] == [
        ["look", "shell_command"], ["again", "while"], ["up", "state_update"],
    ]  # fmt: skip
    assert terminal.ok(*words, "count.yaml", "--state").out.splitlines()[-1].split() == [
        "computed.far", "from", "computed.double,", "raw.n",
    ]  # fmt: skip
    terminal.ok("run", "count.yaml")
    put(terminal, "name: other\nsteps: [{type: exit}]\n")
    assert terminal.ok(*words).out == from_file  # as it was begun
    assert terminal.ok(*words, "count", "--json").json["name"] == "count"
    assert terminal.ok(*words, "--svg", "s.svg").out == "s.svg is written\n"
    terminal.ok(*words, "count", "--state", "--svg", "t.svg")
    assert ">look<" in (terminal.folder / "s.svg").read_text()
    drawn = xml.parse(terminal.folder / "t.svg").getroot()
    assert {one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")} >= {"n", "double", "far"}


@contextmanager
def going_on(terminal: Terminal, *words: str) -> Generator["subprocess.Popen[bytes]"]:
    with terminal.start("run", "count.yaml", "--json", *words) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: "subprocess.Popen[bytes]", type: str) -> dict[str, Any]:
    while True:
        told = json.loads(read_line(process))
        if told["type"] == type:
            return told


def test_a_flow_is_led_step_by_step_from_another_terminal(both: Terminal) -> None:
    put(both)
    with going_on(both, "--step") as process:
        assert until(process, "held")["next"] == "look.shell_command"
        (told,) = both.ok("flow", "ls", "--json").json
        assert (told["status"], told["waits_for"], told["steps_taken"]) == ("in_progress", "credit", 0)
        first = both.ok("flow", "step", "--json").json
        assert [one["step_id"] for one in first["steps"]] == ["look.shell_command"]
        assert first["changes"] == {"raw.word": {"before": None, "after": "seven"}}
        shown = both.ok("flow", "step", "-n", "4").out.splitlines()
        assert [line.split()[-1] for line in shown if "✓" in line] == [
            "again.while", "again.body[1].up.state_update", "again.while", "again.body[2].up.state_update",
        ]  # fmt: skip
        assert "    computed.double = 4  (was 0)" in shown
        assert both.ok("flow", "step", "--go").out == "count goes on\n"
        ended = finish(process)
    assert ended.code == 0
    over = both.run("flow", "step")
    assert (over.code, "count is completed." in over.err) == (1, True)


def test_only_what_is_run_step_by_step_waits_for_it(terminal: Terminal) -> None:
    put(terminal, COUNT.replace("exit 3", "test -e go || sleep 60"))
    with going_on(terminal) as process:
        until(process, "step")
        refused = terminal.run("flow", "step")
        assert (refused.code, "count takes its steps by itself." in refused.err) == (1, True)
    (terminal.folder / "talk.yaml").write_text("agents: {ann: {script: []}}\nkickoff: '@ann hello'\n")
    without = terminal.run("run", "talk.yaml", "--step")
    assert (without.code, "has no steps to be taken one by one." in without.err) == (2, True)


def test_steps_that_nobody_carries_out_are_allowed_with_a_warning(terminal: Terminal) -> None:
    put(terminal)
    with going_on(terminal, "--step") as process:
        until(process, "held")
    allowed = terminal.ok("flow", "step")
    assert allowed.out == "count may take 1 more\n"
    assert "nobody carries it out; go on with: moot resume" in allowed.err


TAKEN = [
    ("look.shell_command", 'raw.word = "seven"'),
    ("again.while", "✓ again.while"),
    ("again.body[1].up.state_update", "computed.double = 2  (was 0)"),
    ("again.while", "✓ again.while"),
    ("again.body[2].up.state_update", "computed.double = 4  (was 2)"),
    ("again.while", "✓ again.while"),
    ("fails.shell_command", "✗ fails.shell_command"),
]


def test_enter_takes_the_next_step_and_shows_what_changed(terminal: Terminal) -> None:
    put(terminal)
    with terminal.typing("run", "count.yaml", "--step") as session:
        for number, (step, shown) in enumerate(TAKEN, 1):
            session.until("Enter takes the next step: ", number)
            session.until(f"Enter takes the next step: {step}")
            session.type("")
            session.until(shown)
        session.until("done in")
    assert session.code == 0
    assert session.shown.count("Enter takes the next step") == len(TAKEN)
