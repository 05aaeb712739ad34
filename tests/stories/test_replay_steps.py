"""A run with steps is played again without its commands, agents, servers and people, and comes to the same state; where
it does not, the step is named."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Terminal
from tests.client.neighbours import ODD
from tests.stories import random_steps, test_step_examples
from tests.stories.test_replay import record, replay, write

EXAMPLES: list[tuple[str, tuple[str, ...], int]] = [  # and what is given, and the exit code
    ("dependencies", (), 0),
    ("quality", ("--input", "least=40"), 0),
    ("quality", ("--input", "least=99"), 1),
    ("release", (), 0),
    ("release", ("--input", "expected=Goodbye"), 1),
    ("standards/fix", (), 0),
]
LIKE = "the replay is like the recording"
FIXER = """
name: everything
context: {document_owner: none}
agents:
  ann:
    backend: command
    permissions: full
    command: |
      echo ann >> ran
      if grep -q hints; then echo '{"applied_count": 2}'; else date +%N; fi
kickoff: "@ann hello"
default_state: {raw: {log: [], seen: {}}}
state_schema: {computed: {length: {from: raw.log, transform: input.length}}}
steps:
  - {id: one, type: shell_command, command: "echo one >> ran; date +%N", state_update: {path: raw.one}}
  - {id: flaky, type: shell_command, command: "echo flaky >> ran; test $(grep -c flaky ran) -gt 1", on_error: retry,
     retry_delay: 10}
  - id: stamp
    type: state_update
    updates: [{path: raw.id, value: "{{ uuid() }}"}, {path: raw.at, value: "{{ now() }}"},
              {path: raw.chance, value: "{{ Math.random() }}"}]
  - {id: shell, type: agent_shell_command, command: "date +%N", state_update: {path: raw.shell}}
  - {id: rate, type: agent_prompt, agent: ann, prompt: "Rate {{ one }}.", state_update: {path: raw.rate}}
  - {id: hints, type: apply_hints, file: a.txt, hints: [mend it],
     state_update: {path: raw.applied, value: "{{ applied_count }}"}}
  - {id: add, type: mcp_call, method: odd.add, params: {a: 1, b: 2}, state_update: {path: raw.sum}}
  - {id: send, type: mcp_call, method: channel_send, params: {message: "sum {{ sum }} at {{ at }}"},
     state_update: {path: raw.sent}}
  - {id: own, type: mcp_call, method: workflow_state_update,
     params: {workflow_id: "{{ workflow_id }}", updates: [{path: raw.own, value: "{{ id }}"}]}}
  - {id: nap, type: wait, for: 1s}
  - id: side
    type: parallel_foreach
    items: [a, b, c]
    sub_agent_task: one
    agent: ann
    on_sub_agent_error: {strategy: continue}
  - {id: tell, type: user_message, message: "{{ log.join(' ') }} ({{ length }})"}
sub_agent_tasks:
  one:
    steps:
      - {id: run, type: shell_command, command: "sleep 0.0$(( 1$(date +%N) / 1000 % 10 )); echo {{ item }} >> ran",
         state_update: {path: "raw.seen.{{ item }}", value: "{{ now() }}"}}
      - {id: note, type: state_update, path: raw.log, operation: append, value: "{{ item }}"}
      - {id: ask, type: agent_prompt, prompt: "And {{ item }}?", state_update: {path: "raw.said.{{ item }}"}}
      - {id: again, type: state_update, path: raw.log, operation: append, value: "{{ item }} {{ uuid() }}"}
      - {id: odd, type: conditional, condition: "{{ item === 'b' }}",
         then: [{type: shell_command, command: echo wrong >&2; exit 3}]}
result: "{{ log.join(' ') }} {{ chance }}"
"""


def state(terminal: Terminal, instance: str) -> Any:
    """Of the flow of a run, without ids."""
    told = terminal.ok("flow", "state", "--json", "--instance", instance).out
    return json.loads(re.sub(r"\b[a-z]{2}_[0-9a-z]{20}\b|\bprop-\d+\b", "…", told))


def steps(terminal: Terminal, instance: str) -> list[tuple[str, str]]:
    told = terminal.ok("flow", "trace", "--json", "--instance", instance).json
    return [(one["step_id"], one["status"]) for one in told["steps"]]


def alike(terminal: Terminal, file: Path | str, tape: Path, code: int = 0, *words: str) -> None:
    """The replay comes to the same."""
    ended = replay(terminal, file, tape, *words)
    assert ended.code == code, str(ended)
    assert LIKE in ended.err, str(ended)
    assert state(terminal, "again") == state(terminal, "first")
    assert steps(terminal, "again") == steps(terminal, "first")


def files(folder: Path) -> dict[str, str]:
    """What lies in a project, but for what is moot's own."""
    found = (one for one in folder.rglob("*") if one.is_file() and ".workflow" not in one.parts)
    return {str(one.relative_to(folder)): one.read_bytes().hex() for one in found if "home" not in one.parts}


def test_whatever_a_step_can_do_is_played_again_and_nothing_is_done_outside(both: Terminal) -> None:
    server = json.dumps({"command": sys.executable, "args": [ODD]})
    (both.folder / ".moot" / "config.yaml").write_text(f"mcpServers: {{odd: {server}}}\n")
    file = write(both, FIXER)
    tape = record(both, file)
    before = files(both.folder)
    (both.folder / ".moot" / "config.yaml").write_text("mcpServers: {odd: {command: /bin/false}}\n")
    alike(both, file, tape)
    assert {**files(both.folder), ".moot/config.yaml": ""} == {**before, ".moot/config.yaml": ""}


def project(terminal: Terminal, name: str) -> Path | str:
    """What an example needs, and how it is called there."""
    if name == "standards/fix":
        test_step_examples.changed_repo(terminal)
        return "standards:fix"
    test_step_examples.write(terminal, one__py="import yaml\nx = 1  # TODO\n", two__py=f"{'z' * 101}\n\n")
    return test_step_examples.EXAMPLES / f"{name}.yaml"


@pytest.mark.parametrize(("name", "words", "code"), EXAMPLES)
def test_an_example_is_played_again_in_an_empty_project_and_comes_to_the_same(
    terminal: Terminal, name: str, words: tuple[str, ...], code: int
) -> None:
    file = project(terminal, name)
    tape = record(terminal, file, *words, code=code)
    kept = [one for one in terminal.folder.iterdir() if one.name not in (".moot", ".workflow", "home", "tape.jsonl")]
    for one in kept:
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    alike(terminal, file, tape, code, *words)
    assert {one.name for one in terminal.folder.iterdir()} <= {".moot", ".workflow", "home", "tape.jsonl"}


def test_every_example_that_can_be_run_is_played() -> None:
    assert sorted({"shared/line_check", *(name for name, _, _ in EXAMPLES)}) == test_step_examples.NAMES


DRIFTING = """
name: drifting
inputs: {who: {default: you}}
default_state: {raw: {count: 1}}
state_schema: {computed: {double: {from: raw.count, transform: input * 2}}}
steps:
  - id: early
    type: shell_command
    command: "echo early >> ran; echo hello {{ inputs.who }}"
    state_update: {path: raw.hello}
  - {id: choose, type: conditional, condition: "{{ double > 1 }}", then: [{id: yes, type: user_message, message: more}]}
  - {id: last, type: shell_command, command: "echo last >> ran; echo 3", state_update: {path: raw.last}}
result: "{{ double }}"
"""
NEW_STEP = "  - {id: new, type: shell_command, command: echo new >> ran}\n  - {id: last"


@pytest.mark.parametrize(
    ("old", "new", "drifts"),
    [
        (
            "echo hello",
            "echo goodbye",
            ["early: command was `echo early >> ran; echo hello {{ inputs.who }}` and is `echo early"],
        ),
        ("message: more", "message: less", ["yes: message was `more` and is `less`", "the conversation differs"]),
        ("  - {id: last", NEW_STEP, ["the step new is new", "new.shell_command is begun, and in the recording last"]),
        (
            "transform: input * 2",
            "transform: input * 0",
            [
                "state_schema.computed.double.transform was `input * 2` and is `input * 0`",
                "the state of drifting differs: computed.double: '0' instead of '2'",
                "the result of drifting differs: '0' instead of '2'",
            ],
        ),
        ("id: last", "id: other", ["the step last is not there any more", "the step other is new"]),
        ('result: "{{ double }}"', "", ["result was `{{ double }}` and is not there"]),
    ],
    ids=["command", "message", "new step", "transform", "renamed", "result"],
)
def test_where_the_file_has_changed_the_step_is_named_and_nothing_is_run(
    terminal: Terminal, old: str, new: str, drifts: list[str]
) -> None:
    tape = record(terminal, write(terminal, DRIFTING))
    assert old in DRIFTING
    ended = replay(terminal, write(terminal, DRIFTING.replace(old, new), "changed.yaml"), tape)
    assert ended.code == 1, ended
    for fact in drifts:
        assert f"drift: {fact}" in ended.err or f"drift: drifting: {fact}" in ended.err, ended.err
    assert (terminal.folder / "ran").read_text() == "early\nlast\n"


def test_another_input_is_told_with_the_step_where_it_counts(terminal: Terminal) -> None:
    file = write(terminal, DRIFTING)
    tape = record(terminal, file)
    ended = replay(terminal, file, tape, "--input", "who=me")
    assert ended.code == 1, ended
    assert "drift: drifting: the input who differs: '\"me\"' instead of '\"you\"'" in ended.err
    told = "'echo early >> ran; echo hello me' instead of 'echo early >> ran; echo hello you'"
    assert f"drift: early.shell_command: the command differs: {told}" in ended.err


def test_a_tape_that_was_cut_in_the_middle_is_played_up_to_there(terminal: Terminal) -> None:
    file = write(terminal, DRIFTING)
    tape = record(terminal, file)
    lines = tape.read_text().splitlines(keepends=True)
    (at,) = [number for number, line in enumerate(lines) if '"step":"early.shell_command"' in line]
    tape.write_text("".join(lines[: at + 1]))
    ended = replay(terminal, file, tape)
    assert ended.code == 1, ended
    assert "drift: the recording was cut here" in ended.err
    assert ended.err.count("drift:") == 1, ended.err
    assert steps(terminal, "again") == [("early.shell_command", "success")]
    assert (terminal.folder / "ran").read_text() == "early\nlast\n"


def test_a_flow_that_was_recorded_step_by_step_is_played_at_once(terminal: Terminal) -> None:
    text = "steps: [{id: one, type: shell_command, command: date}, {id: two, type: shell_command, command: date}]\n"
    file, tape = write(terminal, text), terminal.folder / "tape.jsonl"
    with terminal.typing("run", str(file), "--instance", "first", "--record", str(tape), "--step") as session:
        for step in ("one.shell_command", "two.shell_command"):
            session.until(f"the next step: {step}")
            session.type("")
        session.until("done in")
    assert session.code == 0
    alike(terminal, file, tape)
    refused = replay(terminal, file, tape, "--step")
    assert (refused.code, "--step and --replay were given" in refused.err) == (2, True), refused


@pytest.mark.parametrize("lot", [1, 2, *(pytest.param(lot, marks=pytest.mark.chaos) for lot in range(3, 60))])
def test_a_workflow_that_was_drawn_by_lot_is_played_again(both: Terminal, lot: int) -> None:
    file, tape = write(both, random_steps.text(lot)), both.folder / "tape.jsonl"
    code = both.run("run", str(file), "--instance", "first", "--record", str(tape)).code
    assert code in (0, 1)
    before = files(both.folder)
    alike(both, file, tape, code)
    assert files(both.folder) == before
