"""`moot team` while one is at work: another is refused, it stops when asked, and its own process alone is ended."""

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from tests.cli.terminal import SECONDS, Terminal
from tests.workspaces import repos

FILE = """
name: slow
defaults: {backend: scripted}
team: {workers: [worker-1]}
agents:
  lead: {script: [{on: GOAL, say: go}]}
  reviewer-1: {script: [{on: Review, calls: [{review_report: {verdict: approved}}]}]}
  worker-1: {script: [{on: TASK, hang: true}]}
"""
DONE = """
name: quick
defaults: {backend: scripted}
agents:
  lead: {script: &judge [{on: Review, calls: [{review_report: {verdict: approved}}]}, {on: GOAL, say: go}]}
  reviewer-1: {script: *judge}
  worker: {script: [{on: TASK, say: "done: a; evidence: b; risk: c; next: d"}]}
team: {}
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    (tmp_path / "home").mkdir()
    (tmp_path / ".moot").mkdir()
    (tmp_path / ".moot" / "team.yaml").write_text(FILE, encoding="utf-8")
    repos.make(tmp_path)
    return Terminal(tmp_path, bytecode)


@contextmanager
def working(terminal: Terminal, name: str = "team") -> Generator["subprocess.Popen[bytes]"]:
    """A team whose worker is at work, and never ends."""
    process = terminal.start("team", "up", "a goal", "--name", name, "--json")
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("stage") == "working":
                break
        yield process
    finally:
        process.kill()
        process.communicate()


def stage(terminal: Terminal, name: str = "team") -> str:
    (found,) = terminal.ok("team", "status", name, "--json").json
    return str(found["stage"])


def test_a_second_team_of_the_same_name_is_refused_while_the_first_works(terminal: Terminal) -> None:
    with working(terminal):
        refused = terminal.run("team", "up", "another goal")
        assert (refused.code, "INSTANCE_BUSY" in refused.err) == (1, True), refused
        made = terminal.run("team", "create", "another goal")
        assert (made.code, "INSTANCE_BUSY: The team team is at work." in made.err) == (1, True), made
        (found,) = terminal.ok("team", "status", "--json").json
        assert (found["goal"], found["stage"]) == ("a goal", "working")


def test_a_team_goes_down_and_goes_on_where_it_was(terminal: Terminal) -> None:
    with working(terminal) as process:
        assert terminal.ok("team", "down", "--now").out == "the team team stops\n"
        assert process.wait(SECONDS) == 130
    assert stage(terminal) == "working"
    assert terminal.ok("team", "down").out == "the team team is not at work\n"
    file = terminal.folder / ".moot" / "team.yaml"
    file.write_text(FILE.replace("hang: true", 'say: "done: a; evidence: b; risk: c; next: d"'), encoding="utf-8")
    lead = "[{on: Review, calls: [{review_report: {verdict: approved}}]}, {on: GOAL, say: go}]"
    file.write_text(file.read_text().replace("[{on: GOAL, say: go}]", lead), encoding="utf-8")
    assert terminal.run("team", "up", "a goal", "--json").code == 0
    assert stage(terminal) == "done"


def test_delete_is_refused_while_it_works_and_force_ends_its_process(terminal: Terminal) -> None:
    with working(terminal) as process:
        refused = terminal.run("team", "delete")
        assert (refused.code, "INSTANCE_BUSY" in refused.err) == (1, True), refused
        assert process.poll() is None
        assert "the team team is deleted" in terminal.ok("team", "delete", "--force").out
        assert process.wait(SECONDS) != 0
    assert terminal.ok("team", "status", "--json").json == []
    assert repos.Repo(terminal.folder).worktrees() == [terminal.folder]


def test_delete_tells_of_a_worktree_that_it_leaves_as_it_is(terminal: Terminal) -> None:
    (terminal.folder / ".moot" / "team.yaml").write_text(DONE, encoding="utf-8")
    terminal.ok("team", "up", "g")
    (tree,) = repos.Repo(terminal.folder).worktrees()[1:]
    repos.make(tree / "clone")  # what no commit can hold
    deleted = terminal.ok("team", "delete")
    assert deleted.out == "the team team is deleted\n"
    assert deleted.err == (
        f"  left as it is: {tree}: {tree} holds a repository of its own: clone/. "
        "Take out what you need of it, and remove it there.\n"
    )


def test_force_ends_nobody_else(terminal: Terminal) -> None:
    with working(terminal, "one"), working(terminal, "two") as other:
        terminal.ok("team", "delete", "one", "--force")
        assert other.poll() is None
        assert stage(terminal, "two") == "working"


def test_force_ends_no_process_that_got_the_number_of_a_dead_one(terminal: Terminal) -> None:
    with working(terminal) as process:
        process.kill()
        process.wait(SECONDS)
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        connection = apsw.Connection(str(terminal.folder / ".workflow" / "moot.db"))
        connection.execute("update hosts set process = ?", (f"{stranger.pid}:{process.pid}",))
        connection.close()
        terminal.ok("team", "delete", "--force")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_team_that_is_not_there_is_not_found(terminal: Terminal) -> None:
    for words in (("status", "x"), ("down", "x"), ("delete", "x"), ("attach", "x")):
        refused = terminal.run("team", *words)
        assert refused.code != 0, words
        assert "_NOT_FOUND" in refused.err, words


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("up", "g", "--workers", "2", "--worker", "ann"), "--workers and --worker both say who works."),
        (("up", "g", "--backend", "tmux"), "There is no backend 'tmux'."),
        (("up", "g", "--name", "../x"), "cannot be an instance's name"),
        (("up",), "The team has no goal."),
        (("up", "  "), "The team has no goal."),
        (("up", "g", "--backend", "eve=codex"), "Name one of lead, reviewer, worker, reviewer-1, worker-1."),
        (("up", "g", "--workers", "0"), "--workers"),
        (("up", "g", "--file", "nowhere.yaml"), "there is no file nowhere.yaml"),
    ],
)
def test_what_cannot_be_is_told_before_anything_happens(terminal: Terminal, words: tuple[str, ...], fact: str) -> None:
    refused = terminal.run("team", *words)
    assert refused.code == 2, refused
    assert fact.casefold() in refused.err.casefold()
    assert not (terminal.folder / ".workflow" / "moot.db").exists()


def goal(terminal: Terminal) -> str:
    (found,) = terminal.ok("team", "status", "--json").json
    return str(found["goal"])


def test_the_goal_is_what_is_said_or_created_with_or_in_the_file(terminal: Terminal) -> None:
    file = terminal.folder / ".moot" / "team.yaml"
    file.write_text(f"{DONE}kickoff: as the file has it\n", encoding="utf-8")
    terminal.ok("team", "create", "as created")
    terminal.ok("team", "up")
    assert goal(terminal) == "as created"
    terminal.ok("team", "up")
    assert goal(terminal) == "as the file has it"
    terminal.ok("team", "up", " as said ")
    assert goal(terminal) == "as said"
    file.write_text(DONE, encoding="utf-8")
    terminal.ok("team", "up")
    assert goal(terminal) == "as said"


def test_who_has_created_a_team_is_told_how_to_start_the_same(terminal: Terminal) -> None:
    (terminal.folder / ".moot" / "team.yaml").unlink()
    said = ("--workers", "2", "--reviewer", "eve", "--no-push", "--name", "crew", "--backend", "scripted")
    told = "--name crew --workers 2 --reviewer eve --backend scripted --no-push"
    created = terminal.ok("team", "create", *said).out.splitlines()[-1]
    assert created == f'the team crew is there; start it with: moot team up "what is to be done" {told}'
    created = terminal.ok("team", "create", "g", *said).out.splitlines()[-1]
    assert created == f"the team crew is there; start it with: moot team up {told}"


def test_a_team_begins_only_where_a_branch_is_checked_out(terminal: Terminal) -> None:
    repos.Repo(terminal.folder).git("checkout", "--quiet", "--detach")
    refused = terminal.run("team", "up", "g")
    assert refused.code == 2
    assert (
        "NOT_PREPARED: The workers of a team need worktrees, and no branch is checked out to begin from." in refused.err
    )
    assert "git switch NAME" in refused.err


def test_a_team_that_pushes_begins_only_where_there_is_one_remote_to_push_to(terminal: Terminal) -> None:
    (terminal.folder / ".moot" / "team.yaml").write_text(DONE, encoding="utf-8")
    refused = terminal.run("team", "up", "g", "--push")
    assert refused.code == 2
    fact = f"NOT_PREPARED: The team is to push what it has merged. {terminal.folder} has no remote to push to."
    assert fact in refused.err
    assert "Add one: git remote add origin URL" in refused.err
    assert not (terminal.folder / ".workflow" / "moot.db").exists()
    repos.Repo(terminal.folder).git("remote", "add", "origin", "URL")
    terminal.ok("team", "up", "g", "--push", "--dry-run")


def test_a_team_with_an_odd_name_has_branches_that_git_takes(terminal: Terminal) -> None:
    (terminal.folder / ".moot" / "team.yaml").write_text(DONE, encoding="utf-8")
    for name in ("x..y", "x.lock"):
        shown = terminal.ok("team", "up", "g", "--name", name).out
        branch = f"moot/{name.replace('..', '-').replace('.lock', '-lock')}/worker"
        assert f"branches: {branch}; merged into {branch}" in shown
        assert repos.Repo(terminal.folder).tip(branch)
