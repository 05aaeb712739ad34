"""A run with a plan is played again: its tasks begin when the talk is quiet, and go to the same agents. What its checks
and git came to is on the tape: no command is run for it, and the repository is left alone."""

from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.workspaces import repos

FILE = """
name: plan
context: {document_owner: none}
agents:
  ann: {backend: scripted, workspace: worktree, script: [{on: TASK, say: ann did it}, {say: "@ben hello"}]}
  ben:
    backend: scripted
    tools: [workspaces, channel]
    permissions: full
    script:
      - on: (?s)TASK.* b\\n
        calls: [{workspace_create: {branch: feature, setup: echo made >> RAN}}]
        say: ben did it
      - {on: does not count, say: ben did it again}
      - {on: TASK, calls: [{workspace_list: {}}], say: "@human ben did c"}
      - {say: hi}
kickoff: "@ann talk"
max_parallel_tasks: 2
auto_create_workspaces: true
tasks:
  - {name: a, description: Do a., agent: ann}
  - name: b
    description: Do b.
    agent: ben
    checks: [{file: plan.yaml}, {shell: echo b >> RAN; grep -c b RAN | grep 2}]
  - {name: c, description: Do c., agent: ben, depends_on: [a, b]}
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()
    (folder / "plan.yaml").write_text(FILE.replace("RAN", str(folder / "ran")))
    (folder / ".moot" / "config.yaml").write_text("notify: {shell: echo called >> ran}\n")
    return Terminal(folder, bytecode)


def test_tasks_are_handed_out_as_they_were_and_nothing_is_done_outside(terminal: Terminal) -> None:
    repo = repos.make(terminal.folder)
    ran = terminal.folder / "ran"
    assert terminal.run("run", "plan.yaml", "--record", "tape.jsonl").code == 4
    said = [one["message"] for one in terminal.ok("log", "--json").json]
    assert [sum(word in one for one in said) for word in ("[TASK:", "does not count")] == [3, 1]
    before = (ran.read_text(), repo.git("for-each-ref"), repo.git("worktree", "list"))
    assert before[0] == "made\nb\nb\ncalled\n"
    played = terminal.run("run", "plan.yaml", "--replay", "tape.jsonl", "--instance", "again")
    assert "the replay is like the recording" in played.err, played
    assert played.code == 4
    shown = terminal.ok("plan", "show", "--json", "--instance", "again").json
    assert (shown["workflow_status"], shown["completed_tasks"]) == ("completed", 3)
    assert (ran.read_text(), repo.git("for-each-ref"), repo.git("worktree", "list")) == before
    assert "moot workspace merge" not in played.out
