"""The examples that come with moot can be found, read, copied and tried by whoever has only the program."""

from pathlib import Path

import pytest

from moot.api import examples
from moot.api.examples import ALL
from tests.cli.terminal import Terminal

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = [one.name for one in ALL]


def test_every_file_of_an_example_belongs_to_one_and_every_one_says_what_it_shows() -> None:
    listed = [f"{one.base}/{file}".lstrip("/") for one in ALL for file in one.files]
    assert sorted(listed) == sorted(str(one.relative_to(FOLDER)) for one in FOLDER.rglob("*") if one.is_file())
    assert all(one.sentence.endswith(".") and "moot run" not in one.sentence for one in ALL)
    assert len(set(NAMES)) == len(NAMES)


def test_they_are_listed_with_what_they_show(terminal: Terminal) -> None:
    out = terminal.ok("examples").out
    assert "  review        A change is reviewed; what was found is in the notes.\n" in out
    told = terminal.ok("examples", "list", "--json").json
    assert [one["name"] for one in told] == NAMES
    assert told[0]["command"] == "moot run review.yaml"


def test_one_is_shown_with_all_its_files(terminal: Terminal) -> None:
    assert terminal.ok("examples", "show", "review").out == (FOLDER / "review.yaml").read_text()
    shown = terminal.ok("examples", "show", "router").out
    for name in ("desk.md", "billing.md", "support.md"):
        assert f"--- {name}\n{(FOLDER / 'agents/router' / name).read_text()}" in shown


@pytest.mark.parametrize("example", ALL, ids=NAMES)
def test_a_copy_has_all_that_it_needs(terminal: Terminal, example: examples.Example) -> None:
    out = terminal.ok("examples", "copy", example.name).out
    assert out.splitlines()[-1].endswith(example.spelled)
    assert ("where there is none: moot team setup" in out) is example.needs_git
    folder = terminal.folder if example.place.startswith(".") else terminal.folder / example.place
    there = Terminal(folder, terminal.bytecode)
    checked = there.run("check", example.files[0] if example.topic == "team" else example.command[1])
    if example.needs_git and example.name != "standards":
        assert "git" in checked.out + checked.err
    else:
        assert checked.code == 0, checked


def test_nothing_is_written_over(terminal: Terminal) -> None:
    (terminal.folder / "router").mkdir()
    (terminal.folder / "router" / "support.md").write_text("mine")
    refused = terminal.run("examples", "copy", "router")
    assert refused.code == 1
    assert "FILE_EXISTS: router/support.md is there already." in refused.err
    assert [one.name for one in (terminal.folder / "router").iterdir()] == ["support.md"]
    assert terminal.ok("examples", "copy", "router", "other/place", "--json").json[0] == "other/place/desk.md"


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("review", 0, "reviewer  One finding, see the notes."),
        ("plan", 0, "2 of 2 tasks"),
        ("release", 0, "done in"),
        ("router", 0, "We have refunded the second payment of May."),
        ("worktrees", 0, "work on moot/default/ann"),
        ("budget", 3, "stopped at a limit"),
    ],
)
def test_one_is_tried_in_a_folder_that_is_gone_then(terminal: Terminal, name: str, code: int, said: str) -> None:
    before = sorted(terminal.folder.rglob("*"))
    ended = terminal.run("examples", "run", name)
    assert ended.code == code, ended
    assert said in ended.out
    assert f"to keep it: moot examples copy {name}" in ended.err
    assert sorted(terminal.folder.rglob("*")) == before


def test_a_whole_team_is_tried(terminal: Terminal) -> None:
    ended = terminal.run("examples", "run", "hello", "--no-approve-plan")
    assert ended.code == 0, ended
    assert "merged: everything is on moot/team/worker-1" in ended.out


def test_options_are_handed_on(terminal: Terminal) -> None:
    failed = terminal.run("examples", "run", "release", "--input", "expected=Goodbye", "--json")
    assert failed.code == 1
    assert failed.out.splitlines()[-1].startswith('{"type":"summary"')


def test_what_is_wrong_is_told_with_a_way_on(terminal: Terminal) -> None:
    unknown = terminal.run("examples", "run", "reviw")
    assert unknown.code == 2
    assert "Did you mean `review`?" in unknown.err
    for_projects = terminal.run("examples", "run", "dependencies")
    assert for_projects.code == 2
    assert "moot examples copy dependencies, then moot run dependencies.yaml." in for_projects.err


def test_one_that_waits_for_a_person_names_no_command_for_a_folder_that_is_gone(terminal: Terminal) -> None:
    ended = terminal.run("examples", "run", "person")
    assert ended.code == 4, ended
    assert "to answer, run it on a terminal" in ended.err
    assert "to keep it: moot examples copy person" in ended.err
    assert "moot inbox" not in ended.err
    assert "moot resume" not in ended.err
    assert "moot workspace merge" not in terminal.run("examples", "run", "worktrees").out


def test_a_folder_that_cannot_be_written_to_is_told_in_words(terminal: Terminal) -> None:
    (terminal.folder / "file").touch()  # which is no folder; whoever is root may write everywhere else
    refused = terminal.run("examples", "copy", "review", "file")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("error: FILE_REFUSED: file/review.yaml cannot be written: ")
