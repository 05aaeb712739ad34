"""The examples of step workflows do real work in a project, and end as they say: with files, words and an exit code."""

import shutil
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, Terminal
from tests.workspaces import repos

EXAMPLES = Path(__file__).parents[2] / "examples/steps"
NAMES = ["dependencies", "quality", "release", "shared/line_check", "standards/fix"]


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    (tmp_path / ".moot").mkdir()
    return Terminal(tmp_path, bytecode)


def write(terminal: Terminal, **files: str) -> None:
    for name, text in files.items():
        (terminal.folder / name.replace("__", ".")).write_text(text)


def run(terminal: Terminal, name: str, *inputs: str) -> Ended:
    given = [word for one in inputs for word in ("--input", one)]
    return terminal.run("run", str(EXAMPLES / f"{name}.yaml"), *given)


def told(terminal: Terminal) -> str:
    """What the user was told last."""
    return terminal.ok("log", "--json").json[-1]["message"]


def test_every_example_has_its_story() -> None:
    assert sorted(str(one.relative_to(EXAMPLES).with_suffix("")) for one in EXAMPLES.rglob("*.yaml")) == NAMES


def test_a_file_that_is_missing_is_told_of_and_the_analysis_goes_on(terminal: Terminal) -> None:
    write(terminal, main__py="import os\nfrom helper.x import y\n", helper__py="import yaml.nodes as n, requests\n")
    ended = run(terminal, "dependencies")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "2 undeclared"), ended
    assert (terminal.folder / "dependencies.md").read_text().splitlines() == [
        "# Dependencies",
        "",
        "4 modules are imported, 0 packages declared.",
        "",
        "- requests is imported, and nobody has declared it.",
        "- yaml is imported, and nobody has declared it.",
        "- Not known: requirements.txt (exit code 2: grep: requirements.txt: No such file or directory)",
    ]
    write(terminal, deps__txt="# ours\nrequests[socks]>=2 ; python_version > '3'\nPy-YAML\n")
    assert run(terminal, "dependencies", "declared_in=deps.txt").out.splitlines()[-1] == "1 undeclared"
    assert told(terminal).splitlines()[2:] == [
        "4 modules are imported, 2 packages declared.",
        "",
        "- yaml is imported, and nobody has declared it.",
    ]


def test_the_same_checks_with_other_inputs_make_one_score(terminal: Terminal) -> None:
    write(terminal, one__py="x = 1  # TODO\ny = 2\n# FIXME TODO\n", two__py=f"{'z' * 101}\n\n")
    ended = run(terminal, "quality", "least=60")
    assert ended.code == 1, ended
    assert "The score is 40, and 60 is wanted." in ended.err
    assert told(terminal).splitlines() == [
        "2 files, 5 lines: 40 of 100",
        "unfinished: 2, most in ./one.py",
        "too long: 1, most in ./two.py",
    ]
    ended = run(terminal, "quality", "least=40")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "40"), ended


def test_where_there_is_nothing_to_look_at_nothing_is_wrong(terminal: Terminal) -> None:
    ended = run(terminal, "quality")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "100"), ended


def test_tasks_are_done_as_soon_as_what_they_need_is(terminal: Terminal) -> None:
    ended = run(terminal, "release", "greeting=Hi", "expected=Hi")
    assert ended.code == 0, ended
    assert told(terminal) == "Deployed: program (Hi)"
    assert (terminal.folder / "live/program").read_text() == "echo Hi\n"


def test_a_task_that_fails_ends_the_run_with_the_reason(terminal: Terminal) -> None:
    ended = run(terminal, "release", "expected=Goodbye")
    assert ended.code == 1, ended
    assert "test: run failed: exit code 1: it says Hello, not Goodbye. Not begun: package, deploy." in ended.err
    assert not (terminal.folder / "live").exists()


def changed_repo(terminal: Terminal) -> None:
    """Four files that have changed, three of which do not meet the standards; the workflow is found by its name."""
    repos.make(terminal.folder)
    shutil.copytree(EXAMPLES / "standards", terminal.folder / ".moot/workflows/standards")
    write(terminal, a__py="a  \nb\nc \n", b__sh="b\n", d__txt="1\t\n2 \n3 \n", skipped__md="x \n")
    (terminal.folder / "c c.py").write_text("c ")


def test_what_has_changed_is_mended_by_sub_agents_in_batches(terminal: Terminal) -> None:
    changed_repo(terminal)
    ended = terminal.run("run", "standards:fix")
    assert ended.code == 0, ended
    assert told(terminal) == "4 files in 2 batches meet the standards."
    found = {name: (terminal.folder / name).read_text() for name in ("a.py", "c c.py", "d.txt", "skipped.md")}
    assert found == {"a.py": "a\nb\nc\n", "c c.py": "c", "d.txt": "1\n2\n3\n", "skipped.md": "x \n"}


def test_who_cannot_mend_a_file_in_five_rounds_is_not_asked_again(terminal: Terminal) -> None:
    changed_repo(terminal)
    write(terminal, d__txt="x \n" * 7)
    ended = terminal.run("run", "standards:fix")
    assert ended.code == 1, ended
    assert "Still wrong: d.txt." in ended.err
    assert (terminal.folder / "d.txt").read_text() == "x\n" * 5 + "x \n" * 2
