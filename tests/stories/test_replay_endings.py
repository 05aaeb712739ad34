"""However a run was asked, limited or fed with mail while it went on, its replay comes to the same, without waiting."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Terminal, finish
from tests.stories import test_permissions as permissions
from tests.stories.test_replay import record, replay, result, write

# Asks b for something, and looks into the notes until it is there: by then its mail has come with an answer.
TALKER = """
sys.stdin.read()
print(json.dumps({"type": "thread.started", "thread_id": "t-1"}), flush=True)
ask("channel_send", {"message": "@b say it"})
while "something" not in json.dumps(ask("document_read", {})):
    pass
print(json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": "I have it."}}), flush=True)
print(json.dumps({"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 20}}), flush=True)
"""
# Tells what it has used before and after it does something, and then waits for what never comes.
USING = """
def used(name):
    usage = {"input_tokens": 100, "output_tokens": 20}
    tell({"type": "assistant", "message": {"id": name, "content": [], "usage": usage}})

tell({"type": "system", "subtype": "init", "mcp_servers": [{"name": "moot", "status": "connected"}]})
tell({**json.loads(sys.stdin.readline()), "isReplay": True})
used("m1")
ask("document_append", {"content": "one"})
used("m2")
sys.stdin.read()
"""
LIKE = "the replay is like the recording"


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()
    (folder / "claude.py").write_text(permissions.CLAUDE)
    return Terminal(folder, bytecode)


def played_alike(terminal: Terminal, file: Path | str, code: int = 0) -> None:
    ended = replay(terminal, file, terminal.folder / "tape.jsonl")
    assert LIKE in ended.err, ended
    assert ended.code == code, ended
    assert result(terminal, "again") == result(terminal, "first")


@pytest.mark.parametrize("typed", [pytest.param("yes", marks=pytest.mark.chaos), "no, not today"])
def test_a_permission_that_was_asked_for_at_the_terminal_is_answered_again(terminal: Terminal, typed: str) -> None:
    file = permissions.write(terminal)
    with terminal.typing("run", file, "--instance", "first", "--record", "tape.jsonl") as session:
        session.until("Bash: make release")
        session.type(typed)
        session.until("done in")
    assert session.code == 0
    played_alike(terminal, file)


def test_a_permission_that_was_given_elsewhere_is_given_again(terminal: Terminal) -> None:
    file = permissions.write(terminal, notify='echo "$MOOT_ID" > asked')
    run = terminal.start("run", file, "--instance", "first", "--record", "tape.jsonl")
    asked = permissions.await_file(terminal.folder / "asked", run)
    terminal.ok("approve", asked, "--instance", "first")
    assert finish(run).code == 0
    played_alike(terminal, file)


def test_a_permission_that_nobody_gives_any_more_is_told(terminal: Terminal) -> None:
    file = permissions.write(terminal)
    with terminal.typing("run", file, "--instance", "first", "--record", "tape.jsonl") as session:
        session.until("Bash: make release")
        session.type("yes")
        session.until("done in")
    tape = terminal.folder / "tape.jsonl"
    lines = [line for line in tape.read_text().splitlines() if '"kind":"request_answered"' not in line]
    tape.write_text("\n".join(lines) + "\n")
    ended = replay(terminal, file, tape)
    assert "drift: coder: approve waits for an answer that does not come any more" in ended.err
    assert ended.code == 1


def test_the_end_of_a_vote_in_time_is_not_waited_for(terminal: Terminal) -> None:
    text = """
context: {document_owner: none}
agents:
  a: {script: [{on: begin, calls: [{proposal_create: {type: decision, title: T, timeout_seconds: 1,
        options: [{id: x, label: x}, {id: y, label: y}], electors: [a]}}], say: asked}, {on: EXPIRED, say: well}]}
kickoff: "@a begin"
"""
    file = write(terminal, text)
    record(terminal, file)
    tape = terminal.folder / "tape.jsonl"
    tape.write_text(tape.read_text().replace('"timeout_seconds":1', '"timeout_seconds":3000'))
    played_alike(terminal, file)


@pytest.mark.parametrize(
    ("script", "budget"),
    [
        ("{on: go, takes: 30s}", "time=1s"),
        ("{on: go, say: '@b go'}", "attempts=3"),
        pytest.param("{on: go, hang: true}", "time=1s", marks=pytest.mark.chaos),
    ],
)
def test_a_run_that_reached_a_limit_reaches_it_again(terminal: Terminal, script: str, budget: str) -> None:
    text = f"""
context: {{document_owner: none}}
agents:
  a: {{script: [{script}]}}
  b: {{script: [{{on: go, say: "@a go"}}]}}
kickoff: "@a go"
"""
    file = write(terminal, text)
    record(terminal, file, "--budget", budget, code=3)
    ended = replay(terminal, file, terminal.folder / "tape.jsonl", "--budget", budget)
    assert LIKE in ended.err, ended
    assert ended.code == 3
    assert result(terminal, "again") == result(terminal, "first")


def test_a_program_that_was_cut_off_at_a_limit_has_done_the_same_by_then(terminal: Terminal) -> None:
    functions, _, _ = permissions.CLAUDE.partition("assert ")
    (terminal.folder / "claude.py").write_text(functions + USING)
    command = [sys.executable, str(terminal.folder / "claude.py")]
    workflow = {
        "context": {"document_owner": "none"},
        "budget": {"tokens": 200},
        "agents": {"coder": {"backend": "claude", "command": command, "permissions": "full"}},
        "kickoff": "@coder begin",
    }
    file = write(terminal, json.dumps(workflow))
    record(terminal, file, code=3)
    played_alike(terminal, file, 3)
    assert result(terminal, "again")["documents"]["notes.md"].startswith("one")
    tape = terminal.folder / "tape.jsonl"
    tape.write_text(spoken_before_the_limit(tape.read_text()))
    ended = terminal.run("run", str(file), "--instance", "third", "--replay", str(tape), env={"PATH": "/usr/bin:/bin"})
    assert (LIKE in ended.err, ended.code) == (True, 3), ended
    assert [who for who, _, _ in result(terminal, "third")["said"]][:3] == ["system", "human", "system"]


def spoken_before_the_limit(tape: str) -> str:
    """A tape on which somebody spoke in the moment between the use of what was left and the notice of it."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in tape.splitlines()]
    at, notice = next((at, one) for at, one in enumerate(lines) if one["type"] == "said" and one["limit"])
    hello = {**notice, "sender": "human", "actor": "human", "kind": "message", "body": "hello", "limit": None}
    hello |= {"id": f"{notice['id'][:-1]}0", "at": notice["at"] - 9}
    number = notice["seq"]
    for one in lines:
        if one.get("seq", 0) >= number:
            one["seq"] += 1
        if "events" in one:
            one["events"] = [seq + (seq >= number) for seq in one["events"]]
    return "".join(f"{json.dumps(one)}\n" for one in (*lines[:at], hello, *lines[at:]))


def test_mail_that_came_while_an_agent_worked_is_told_again(terminal: Terminal) -> None:
    functions, _, _ = permissions.CLAUDE.partition("assert ")
    (terminal.folder / "codex.py").write_text(functions + TALKER)
    command = [sys.executable, str(terminal.folder / "codex.py")]
    answer = [{"channel_send": {"message": "@coder something"}}, {"document_append": {"content": "something"}}]
    workflow = {
        "context": {"document_owner": "none"},
        "agents": {
            "coder": {"backend": "codex", "command": command, "permissions": "full"},
            "b": {"script": [{"on": "say", "calls": answer}]},
        },
        "kickoff": "@coder begin",
    }
    file = write(terminal, json.dumps(workflow))
    tape = record(terminal, file)
    lines = [json.loads(line) for line in tape.read_text().splitlines()]
    assert [one["body"] for line in lines if line["type"] == "more" for one in line["mail"]] == ["@coder something"]
    assert sum(line["type"] == "begin" for line in lines) == 2
    played_alike(terminal, file)


def test_a_file_that_was_saved_last_is_saved_again(terminal: Terminal) -> None:
    plan = terminal.folder / ".workflow" / "first" / "plan.md"
    text = f"""
context: {{document_owner: none}}
agents: {{a: {{backend: command, command: "cat > /dev/null; mkdir -p {plan.parent}; echo plan > {plan}; echo done"}}}}
kickoff: "@a begin"
"""
    file = write(terminal, text)
    record(terminal, file)
    played_alike(terminal, file)
    assert (terminal.folder / ".workflow" / "again" / "plan.md").read_text() == "plan\n"


def test_no_secret_of_people_is_on_the_tape(terminal: Terminal) -> None:
    saved = terminal.folder / ".workflow" / "first" / "x.md"
    text = f"""
context: {{document_owner: none}}
agents:
  a:
    backend: command
    command: "cat > /dev/null; mkdir -p {saved.parent}; echo $X > {saved}; echo it is $X"
    env: [X]
setup: [{{shell: "echo $X", as: x}}]
env: [X]
kickoff: "@a begin ${{{{ x }}}}"
"""
    file, tape = write(terminal, text), terminal.folder / "tape.jsonl"
    env = {"MY_TOKEN": "canary-in-the-environment", "X": "canary-in-the-environment"}
    ended = terminal.run("run", str(file), "--instance", "first", "--record", str(tape), env=env)
    assert ended.code == 0, ended
    assert '"subject":"x.md"' in tape.read_text()
    assert "it is [hidden]" in tape.read_text()
    assert "canary" not in tape.read_text()
