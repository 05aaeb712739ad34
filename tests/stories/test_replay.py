"""A recorded run is played again without its agents, and comes to the same; where it does not, that is told."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Ended, Terminal

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(file.stem for file in EXAMPLES.glob("*.yaml"))
TELLING = ("election", "person")  # of all that there is to play; the others with chaos
PASSING = re.compile(
    r"\b[a-z]{2,5}_[0-9a-z]{20}\b|\b(?:prop|doc-owner)-\d{3}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d UTC"
)
TALK = """
name: talk
context: {document_owner: none}
agents:
  ann:
    script:
      - {on: begin, calls: [{document_append: {content: "ann\\n"}}], say: "@ben @cem your turn"}
      - {on: done, say: thank you}
  ben: {script: [{on: your turn, takes: 0.05s, calls: [{document_append: {content: "ben\\n"}}], say: "@ann done"}]}
  cem: {script: [{on: your turn, calls: [{document_append: {content: "cem\\n"}}], say: "@ann done"}]}
kickoff: "@ann begin"
"""


def result(terminal: Terminal, instance: str) -> dict[str, Any]:
    """What came of a run, without ids and times."""
    told = terminal.ok("log", "--json", "--instance", instance).out
    said = [[one["from"], one["message"], one["mentions"]] for one in json.loads(told)]
    folder = terminal.folder / ".workflow" / instance
    kept = {file.name: file.read_text() for file in sorted(folder.glob("*.md")) if file.name != "channel.md"}
    votes = [
        [one["status"], one.get("result"), one["options"]]
        for one in json.loads((folder / "proposals.json").read_text())["proposals"].values()
    ]
    return json.loads(PASSING.sub("…", json.dumps({"said": said, "documents": kept, "votes": votes})))


def record(terminal: Terminal, file: Path | str, *words: str, code: int = 0) -> Path:
    tape = terminal.folder / "tape.jsonl"
    ended = terminal.run("run", str(file), "--instance", "first", "--record", str(tape), *words)
    assert ended.code == code, ended
    return tape


def replay(terminal: Terminal, file: Path | str, tape: Path, *words: str) -> Ended:
    bare = {"PATH": "/usr/bin:/bin"}  # none of the programs is needed
    return terminal.run("run", str(file), "--instance", "again", "--replay", str(tape), *words, env=bare)


def write(terminal: Terminal, text: str, name: str = "w.yaml") -> Path:
    file = terminal.folder / name
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    "name", [name if name in TELLING else pytest.param(name, marks=pytest.mark.chaos) for name in NAMES]
)
def test_an_example_is_played_again_and_comes_to_the_same(terminal: Terminal, name: str) -> None:
    code = {"budget": 3, "person": 4}.get(name, 0)
    file = EXAMPLES / f"{name}.yaml"
    tape = record(terminal, file, code=code)
    ended = replay(terminal, file, tape)
    assert ended.code == code, ended
    assert "the replay is like the recording" in ended.err
    assert result(terminal, "again") == result(terminal, "first")


def test_agents_that_work_at_once_are_played_in_the_recorded_order(terminal: Terminal) -> None:
    file = write(terminal, TALK)
    tape = record(terminal, file)
    assert replay(terminal, file, tape).code == 0
    assert result(terminal, "again") == result(terminal, "first")


def test_failures_are_played_again_without_waiting_for_them(terminal: Terminal) -> None:
    text = """
context: {document_owner: none}
agents:
  a: {retry: {backoff: 0.1s, attempts: 2}, script: [{on: go, fails: 1, fail: not now, say: well}]}
  b: {retry: {backoff: 0.1s, attempts: 2}, script: [{on: go, crash: true}]}
  c: {timeout: 0.2s, retry: {attempts: 1}, script: [{on: go, hang: true}]}
kickoff: "@a @b @c go"
"""
    file = write(terminal, text)
    tape = record(terminal, file, code=1)
    ended = replay(terminal, file, tape)
    assert "the replay is like the recording" in ended.err
    assert ended.code == 1
    assert result(terminal, "again") == result(terminal, "first")


def test_calls_over_mcp_are_recorded_too(terminal: Terminal) -> None:
    text = """
context: {document_owner: none}
agents:
  a: {transport: mcp, script: [{on: go, calls: [{channel_send: {message: "@b here", reply_to: $id}}]}]}
  b: {script: [{on: here, calls: [{inbox_ack: {until: $id}}], say: fine}]}
kickoff: "@a go"
"""
    file = write(terminal, text)
    tape = record(terminal, file)
    assert '"tool":"channel_send"' in tape.read_text()
    assert replay(terminal, file, tape).code == 0
    assert result(terminal, "again") == result(terminal, "first")


def test_what_a_person_said_is_said_again(terminal: Terminal) -> None:
    file, tape = EXAMPLES / "person.yaml", terminal.folder / "tape.jsonl"
    with terminal.typing("run", str(file), "--instance", "first", "--record", str(tape)) as session:
        session.until("waits for you")
        session.type("yes")
        session.until("done in")
    assert session.code == 0
    ended = replay(terminal, file, tape)
    assert ended.code == 0, ended
    assert "the replay is like the recording" in ended.err
    assert result(terminal, "again") == result(terminal, "first")


def test_setup_is_not_run_again(terminal: Terminal) -> None:
    text = """
name: counting
agents: {a: {script: [{on: look, say: seen}]}}
setup: [{shell: "echo x >> ran; wc -l < ran", as: lines}]
kickoff: "@a look: ${{ lines }}"
"""
    file = write(terminal, text)
    tape = record(terminal, file)
    assert replay(terminal, file, tape).code == 0
    assert (terminal.folder / "ran").read_text() == "x\n"
    assert result(terminal, "again") == result(terminal, "first")
    changed = write(terminal, text.replace("echo x", "echo y"), "changed.yaml")
    assert "drift: the setup command `echo y" in replay(terminal, changed, tape).err


def test_setup_that_failed_fails_again(terminal: Terminal) -> None:
    text = "agents: {a: {script: []}}\nsetup: [{shell: 'echo out; touch ran; exit 3'}]\nkickoff: '@a look'"
    file = write(terminal, text)
    tape = record(terminal, file, code=1)
    (terminal.folder / "ran").unlink()
    ended = replay(terminal, file, tape)
    assert (ended.code, (terminal.folder / "ran").exists()) == (1, False)
    assert "the replay is like the recording" in ended.err


def test_a_program_is_not_needed_to_play_what_it_did(terminal: Terminal) -> None:
    text = """
agents: {a: {backend: command, command: "cat > /dev/null; echo ran >> ran; echo my answer"}}
kickoff: "@a go"
"""
    file = write(terminal, text)
    tape = record(terminal, file)
    assert replay(terminal, file, tape).code == 0
    assert (terminal.folder / "ran").read_text() == "ran\n"
    assert result(terminal, "again") == result(terminal, "first")


@pytest.mark.chaos
def test_of_a_program_that_writes_without_end_the_beginning_is_recorded(terminal: Terminal) -> None:
    text = """
name: loud
agents: {a: {backend: command, command: "cat > /dev/null; yes $(printf %0100000d 0) | head -n 60"}}
kickoff: "@a go"
"""
    file = write(terminal, text)
    tape = record(terminal, file)
    assert 5_000_000 < tape.stat().st_size < 6_000_000
    assert (
        '"kind":"cut","text":"of what it wrote 5,000,000 characters are kept, and 1,000,060 are not"'
        in tape.read_text()
    )
    assert replay(terminal, file, tape).code == 0
    assert result(terminal, "again") == result(terminal, "first")


@pytest.mark.parametrize(
    ("old", "new", "drift"),
    [
        pytest.param(
            "@ann begin",
            "@ann begin now",
            "drift: the mail of ann differs: system: '@ann begin now' instead of",
            marks=pytest.mark.chaos,
        ),
        ("@ann begin", "@ann @cem begin", "drift: the mail of cem differs: system: '@ann @cem begin', ann:"),
        pytest.param(
            "@ann begin",
            "begin",
            "drift: ann was not woken by system: '@ann begin', as it was in the recording",
            marks=pytest.mark.chaos,
        ),
        pytest.param(
            "document_owner: none",
            "document_owner: ann",
            "drift: ben: document_append is refused now: NOT_DOCUMENT_OWNER",
            marks=pytest.mark.chaos,
        ),
    ],
)
def test_where_the_workflow_has_drifted_is_told_with_exit_code_1(
    terminal: Terminal, old: str, new: str, drift: str
) -> None:
    tape = record(terminal, write(terminal, TALK))
    ended = replay(terminal, write(terminal, TALK.replace(old, new), "changed.yaml"), tape)
    assert drift in ended.err
    assert ended.code == 1


def test_another_document_or_vote_is_told_though_all_was_done_alike(terminal: Terminal) -> None:
    """As if the recording had come to something else by the same calls."""
    asking = {"proposal_create": {"type": "approval", "title": "Ship it?"}}
    calls = [{"document_append": {"content": "one"}}, asking, {"vote": {"proposal": "prop-001", "choice": "yes"}}]
    workflow = {
        "name": "w",
        "context": {"document_owner": "none"},
        "agents": {"ann": {"script": [{"on": "begin", "calls": calls, "say": "done"}]}},
        "kickoff": "@ann begin",
    }
    file = write(terminal, json.dumps(workflow))
    tape = record(terminal, file)
    other = (
        ("document_changed", '"content":"one"', '"content":"two"'),
        ("vote_cast", '"choice":"yes"', '"choice":"no"'),
    )
    lines = tape.read_text().splitlines()
    for kind, old, new in other:
        lines = [line.replace(old, new) if f'"kind":"{kind}"' in line else line for line in lines]
    tape.write_text("\n".join(lines) + "\n")
    ended = replay(terminal, file, tape)
    assert [line for line in ended.err.splitlines() if line.startswith("drift: ")] == [
        "drift: the document notes.md differs: 'one' instead of 'two'",
        "drift: the vote on 'Ship it?' differs: ann: yes, resolved yes instead of ann: no, resolved yes",
    ], ended
    assert ended.code == 1


TOLD = """
name: told
context: {document_owner: none, config: {document: "${{ instance }}.md"}}
agents:
  ann:
    {backend: command, command: "cat >> handed; echo fine", model: some/x, permissions: ask, tools: [inbox],
     system_prompt: "Look at ${{ instance }} and ${{ seen }}."}
  ben: {model: sonnet, backend: claude, system_prompt: Be kind.}
setup: [{shell: "cat seen", as: seen}]
kickoff: "@ann go"
"""


def test_what_has_changed_in_the_workflow_is_told_though_the_run_is_the_same(terminal: Terminal) -> None:
    (terminal.folder / "seen").write_text("it")
    (terminal.folder / "claude").write_text("#!/bin/sh\n")
    (terminal.folder / "claude").chmod(0o755)
    tape = terminal.folder / "tape.jsonl"
    path = {"PATH": f"{terminal.folder}:/usr/bin:/bin"}
    where = ("run", str(write(terminal, TOLD)), "--instance", "first", "--permissions", "full")
    ended = terminal.run(*where, "--record", str(tape), env=path)
    assert ended.code == 0, ended
    (briefed,) = (one for line in tape.read_text().splitlines() if (one := json.loads(line))["type"] == "briefed")
    handed = (terminal.folder / "handed").read_text()
    assert handed == f"{briefed['system_prompt']}\n\n{briefed['prompt']}"
    assert briefed["system_prompt"].startswith("Look at first and it.")
    (terminal.folder / "claude").unlink()

    def drifts(number: int, text: str, preset: str = "full") -> list[str]:
        file, instance = write(terminal, text, "changed.yaml"), f"again-{number}"
        words = ("--instance", instance, "--replay", str(tape), "--permissions", preset)
        ended = terminal.run("run", str(file), *words, env={"PATH": "/usr/bin:/bin"})
        found = [line.removeprefix("drift: ") for line in ended.err.splitlines() if line.startswith("drift: ")]
        assert ended.code == bool(found), ended
        return found

    assert drifts(0, TOLD) == []
    changed = TOLD.replace("some/x", "some/y").replace("[inbox]", "[inbox, documents]").replace(".md", "-plan.md")
    changed = changed.replace("Be kind.", "Be brief.").replace(
        "model: sonnet, backend: claude", "model: gpt-5, backend: codex"
    )
    assert drifts(1, changed.replace("echo fine", "echo well"), "ask") == [
        "ann: the model was some/x and is some/y",
        "ann: the permissions were full and are ask",
        "ann: the tools were inbox and are inbox, documents",
        "ann: `command` has changed",
        "ben: the backend was claude and is codex",
        "ben: the model was anthropic/sonnet and is openai/gpt-5",
        "ben: the permissions were full and are ask",
        "ben: its system prompt has changed",
        "the document was first.md and is again-1-plan.md",
        "ann: its system prompt has changed",
        "ann: its prompt differs: '…-plan.md :' instead of '….md :'",
    ]
    (terminal.folder / "seen").write_text("nothing")  # which is not looked at
    assert drifts(2, TOLD.replace("Look at", "See")) == ["ann: its system prompt has changed"]
    assert drifts(3, TOLD.replace("seen }}.", "instance }}.")) == ["ann: its system prompt has changed"]


def test_a_recording_of_another_workflow_is_refused_in_one_sentence(terminal: Terminal) -> None:
    tape = record(terminal, write(terminal, TALK))
    ended = replay(terminal, write(terminal, TALK.replace("name: talk", "name: chat"), "chat.yaml"), tape)
    assert (ended.code, "drift" in ended.err) == (2, False), ended
    assert "tape.jsonl is a recording of the workflow `talk`, and this is `chat`." in ended.err


@pytest.mark.parametrize(("new", "code"), [pytest.param('begin"', 0, marks=pytest.mark.chaos), ('begin it"', 1)])
def test_programs_are_told_of_drifts_and_one_exit_code(terminal: Terminal, new: str, code: int) -> None:
    tape = record(terminal, write(terminal, TALK))
    ended = replay(terminal, write(terminal, TALK.replace('begin"', new), "changed.yaml"), tape, "--json")
    told = [json.loads(line) for line in ended.out.splitlines()]
    assert (told[0]["type"], told[0]["replays"]) == ("cast", str(tape))
    assert (told[-1]["type"], bool(told[-1]["drifts"])) == ("replay", bool(code))
    assert [one["exit_code"] for one in told if "exit_code" in one] == [code] == [ended.code]


def test_a_replay_says_that_it_is_one_and_pretends_nothing(terminal: Terminal) -> None:
    text = """
name: pretending
context: {document_owner: none}
agents:
  ann: {backend: command, command: "cat > /dev/null; echo fine"}
  ben: {model: openai/gpt-5}
setup: [{shell: "echo it"}]
kickoff: "@ann go"
"""
    file, tape = write(terminal, text), terminal.folder / "tape.jsonl"
    words = ("run", str(file), "--instance", "first", "--record", str(tape), "--permissions", "full")
    recorded = terminal.run(*words, env={"OPENAI_API_KEY": "sk-canary-0123456789"})
    assert (recorded.code, "OPENAI_API_KEY" in recorded.out) == (0, True), recorded
    for more in ((), ("--dry-run",), ("--json",), ("--dry-run", "--json")):
        ended = replay(terminal, file, tape, "--permissions", "full", *more)
        assert (ended.code, "OPENAI_API_KEY" in ended.out + ended.err) == (0, False), ended
        assert "recorded" in ended.out
        if "--json" not in more:
            assert ended.out.splitlines()[0] == f"replays {tape}: no model, no program, no command is run"


def test_no_secret_is_on_the_tape(terminal: Terminal) -> None:
    text = """
env: [CANARY_TOKEN]
agents: {a: {script: [{on: go, calls: [{document_write: {content: "got $message"}}], say: "said $message"}]}}
kickoff: "@a go ${{ env.CANARY_TOKEN }}"
"""
    file, tape = write(terminal, text), terminal.folder / "tape.jsonl"
    env = {"CANARY_TOKEN": "canary-in-the-environment", "ANTHROPIC_API_KEY": "sk-ant-canary-0123456789"}
    assert terminal.run("run", str(file), "--record", str(tape), env=env).code == 0
    written = tape.read_text()
    assert "document_write" in written
    assert "canary" not in written
    assert tape.stat().st_mode & 0o777 == 0o600
    ended = terminal.run("run", str(file), "--instance", "again", "--replay", str(tape), env=env)
    assert "canary" not in tape.read_text()
    assert ended.code in (0, 1)


def test_a_recording_that_somebody_has_damaged_is_refused_before_anything_happens(terminal: Terminal) -> None:
    file = write(terminal, TALK)
    tape = record(terminal, file)
    lines = [line.replace('"reason":""', '"cause":""') for line in tape.read_text().splitlines()]
    tape.write_text("\n".join(lines) + "\n")
    (at,) = (number for number, line in enumerate(lines, 1) if '"cause":""' in line)
    ended = replay(terminal, file, tape)
    assert (ended.code, f"tape.jsonl:{at} is damaged: `reason` of run_ended" in ended.err) == (2, True), ended


def test_a_file_that_is_no_recording_is_refused_and_left_alone(terminal: Terminal) -> None:
    file = write(terminal, TALK)
    other = write(terminal, "my notes\n", "notes.txt")
    for option in ("--record", "--replay"):
        ended = terminal.run("run", str(file), option, str(other))
        assert ended.code == 2, ended
        assert "RECORDING_INVALID" in ended.err
    assert other.read_text() == "my notes\n"
    assert terminal.run("run", str(file), "--record", "a", "--replay", "b").code == 2


def test_an_earlier_recording_is_not_lost_by_accident(terminal: Terminal) -> None:
    file = write(terminal, TALK)
    tape = record(terminal, file)
    before = tape.read_text()
    for words in ((), ("--dry-run",)):
        ended = terminal.run("run", str(file), "--instance", "other", "--record", str(tape), *words)
        assert (ended.code, "holds a recording" in ended.err, "--force" in ended.err) == (2, True, True), ended
        assert ended.out == ""
    assert tape.read_text() == before
    record(terminal, file, "--force")
    assert tape.read_text() != before
    assert "--force was given without --record" in terminal.run("run", str(file), "--force").err
