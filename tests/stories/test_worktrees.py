"""Agents of a workflow in worktrees of their own, from the first run to the merge and the next run."""

from pathlib import Path

import pytest

from moot.process import confinement
from tests.cli.terminal import Terminal
from tests.workspaces import repos
from tests.workspaces.repos import Repo

WORKFLOW = """
name: two
defaults: {backend: command, permissions: full, workspace: worktree}
agents:
  ann: {command: "pwd; echo ann >> ann.txt; sed -i s/one/ONE/ a.txt"}
  bob: {command: "pwd; echo bob >> bob.txt"}
  sue: {command: "pwd; ls", workspace: shared}
context: {document_owner: none}
kickoff: "@ann @bob @sue work"
"""
MODEL = """---
tools: [files, edit, shell]
permissions: {edit: allow, shell: allow}
answers:
  - calls:
      - file_write: {path: new.txt, content: "new\\n"}
      - file_write: {path: ../out.txt, content: "out"}
      - shell: {command: "echo shell > shell.txt; echo out > ../../../out.txt; git status --short > status.txt"}
  - say: It is over.
---
"""
# Over MCP, with the arguments of somebody who knows no defaults.
TOOLS = """
name: tools
context: {document_owner: none}
agents:
  coder:
    backend: scripted
    tools: [workspaces, channel]
    transport: mcp
    script:
      - on: go
        calls:
          - workspace_create: {branch: feature/x, base_branch: main, create_worktree: true, repo_path: %s}
          - channel_send: {message: made}
kickoff: "@coder go"
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / "two.yaml").write_text(WORKFLOW, encoding="utf-8")
    return Terminal(folder, bytecode)


def test_two_work_beside_each_other_and_both_are_merged(terminal: Terminal) -> None:
    repo = repos.make(terminal.folder)
    ran = terminal.ok("run", "two.yaml")
    assert "work on moot/default/ann: moot workspace merge moot/default/ann\n" in ran.out
    assert "work on moot/default/bob: moot workspace merge moot/default/bob\n" in ran.out
    assert repo.status() == []
    cards = {one["created_by"]: one for one in terminal.ok("workspace", "ls", "--json").json}
    assert {name: one["branch"] for name, one in cards.items()} == {
        "ann": "moot/default/ann",
        "bob": "moot/default/bob",
    }
    said = {one["from"]: one["message"] for one in terminal.ok("log", "--json").json}
    assert said["ann"] == cards["ann"]["worktree_path"]
    assert said["sue"].splitlines()[0] == str(terminal.folder)
    assert "ann.txt" not in said["sue"]
    for name in ("ann", "bob"):
        terminal.ok("workspace", "merge", f"moot/default/{name}")
    assert (repo.read("ann.txt"), repo.read("bob.txt"), repo.read("a.txt")) == ("ann\n", "bob\n", "ONE\ntwo\nthree\n")
    assert repo.status() == []
    # The next run goes on in the same worktrees, from what both have done.
    again = terminal.ok("run", "two.yaml")
    assert "moot workspace merge moot/default/bob" in again.out
    ann = Repo(Path(cards["ann"]["worktree_path"]))
    assert (ann.read("ann.txt"), ann.read("bob.txt")) == ("ann\nann\n", "bob\n")
    ids = {one["id"] for one in terminal.ok("workspace", "ls", "--json").json}
    assert ids == {one["id"] for one in cards.values()}


def test_without_a_repository_it_does_not_begin(terminal: Terminal) -> None:
    refused = terminal.run("run", "two.yaml")
    assert refused.code == 2, refused
    assert "ann: there is no git repository in which it could have a worktree" in refused.err
    assert "Run: git init" in refused.err


@pytest.mark.skipif(confinement.reach() == "unconfined", reason="commands cannot be confined here")
def test_a_model_reaches_only_its_worktree(terminal: Terminal) -> None:
    """Also where the project lies in the home, which is closed to commands."""
    (terminal.folder / "model.md").write_text(MODEL, encoding="utf-8")
    text = 'name: one\nagents: {ann: {from: model.md, workspace: worktree}}\nkickoff: "@ann work"\n'
    (terminal.folder / "one.yaml").write_text(text, encoding="utf-8")
    repo = repos.make(terminal.folder)
    terminal.ok("run", "one.yaml", env={"HOME": str(terminal.folder.parent)})
    (card,) = terminal.ok("workspace", "ls", "--json").json
    tree = Repo(Path(card["worktree_path"]))
    assert (tree.read("new.txt"), tree.read("shell.txt")) == ("new\n", "shell\n")
    assert tree.read("status.txt").splitlines() == ["?? new.txt", "?? shell.txt", "?? status.txt"]
    assert (repo.status(), list(terminal.folder.rglob("out.txt"))) == ([], [])


def test_a_client_of_the_server_is_given_a_worktree(terminal: Terminal) -> None:
    repo = repos.make(terminal.folder)
    (terminal.folder / "tools.yaml").write_text(TOOLS % terminal.folder, encoding="utf-8")
    assert "work on feature/x: moot workspace merge feature/x\n" in terminal.ok("run", "tools.yaml").out
    (card,) = terminal.ok("workspace", "ls", "--json").json
    assert (card["status"], card["base_commit"], card["created_by"]) == ("active", repo.tip("main"), "coder")
    assert repo.worktrees() == [repo.top, Path(card["worktree_path"])]
    # Its instance is forgotten, and what is not merged stays on its branch.
    (tree := Path(card["worktree_path"]) / "left.txt").write_text("left\n")
    assert terminal.ok("rm", "default", "--yes", "--json").json["branches"] == ["feature/x"]
    assert (terminal.ok("workspace", "ls", "--all", "--json").json, repo.worktrees()) == ([], [repo.top])
    assert (tree.exists(), repo.show("feature/x:left.txt")) == (False, "left")
