"""A host that is killed in the middle of a task: whoever resumes the run finishes it, and nothing is done twice."""

import signal
from pathlib import Path

import pytest

from tests.cli.terminal import SECONDS, Terminal, read_line

WORKFLOW = """
name: work
defaults: {backend: command, permissions: full, retry: {attempts: 1}}
agents:
  ann: {command: "echo x >> first.txt; echo The first is done."}
  ben: {command: "echo x >> begun.txt; test -e go || sleep 600; echo x >> second.txt; echo The second is done."}
  eve: {command: "echo x >> third.txt; echo The third is done."}
context: {document_owner: none}
tasks:
  - {name: first, agent: ann, checks: [{file: first.txt}]}
  - {name: second, depends_on: [first], agent: ben, checks: [{file: second.txt}]}
  - {name: third, depends_on: [second], agent: eve}
result: All three are there.
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()
    (folder / "work.yaml").write_text(WORKFLOW, encoding="utf-8")
    return Terminal(folder, bytecode)


def test_a_task_whose_host_was_killed_is_finished_by_the_next(terminal: Terminal) -> None:
    process = terminal.start("run", "work.yaml", "--json")
    watching = terminal.start("status", "-f", "--json")
    try:
        line = ""
        while '"tasks":["second"]' not in line or '"attempt":1' not in line:
            line = read_line(watching)
            assert line, "it ended too early"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=SECONDS)
        watching.send_signal(signal.SIGKILL)
        watching.communicate(timeout=SECONDS)
    (terminal.folder / "go").touch()
    before = {one["name"]: one["status"] for one in terminal.ok("task", "ls", "--json").json}
    assert before == {"first": "completed", "second": "planning", "third": "blocked"}
    resumed = terminal.ok("resume")
    assert resumed.out.splitlines()[-1] == "All three are there."
    assert " · 3 of 3 tasks · " in resumed.out
    found = terminal.ok("task", "ls", "--json").json
    assert [(one["status"], one["outcome"]) for one in found] == [
        ("completed", "The first is done."),
        ("completed", "The second is done."),
        ("completed", "The third is done."),
    ]
    made = {name: (terminal.folder / f"{name}.txt").read_text() for name in ("first", "second", "third")}
    assert made == dict.fromkeys(("first", "second", "third"), "x\n")
    said = [one["message"].split("]")[0] for one in terminal.ok("log", "--json").json if "[TASK:" in one["message"]]
    assert len(said) == len(set(said)) == 3  # each was handed out once
