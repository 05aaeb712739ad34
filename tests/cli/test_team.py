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
        (("up", "g", "--workers", "0"), "--workers"),
        (("up", "g", "--file", "nowhere.yaml"), "there is no file nowhere.yaml"),
    ],
)
def test_what_cannot_be_is_told_before_anything_happens(terminal: Terminal, words: tuple[str, ...], fact: str) -> None:
    refused = terminal.run("team", *words)
    assert refused.code == 2, refused
    assert fact.casefold() in refused.err.casefold()
    assert not (terminal.folder / ".workflow" / "moot.db").exists()
