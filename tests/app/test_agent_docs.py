"""Every example of "Write an agent file" is taken as it stands, and what is shown is what is printed."""

import re
import shlex
from pathlib import Path

import pytest

from moot.app import workflows
from moot.app.project import Project
from moot.workflow.shape import DefaultsShape, WorkingShape
from tests.cli.terminal import Terminal

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
TEXT = PAGE.read_text()
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED = {name: text for _, name, text in BLOCK.findall(TEXT) if name}
CONSOLE = [text for kind, _, text in BLOCK.findall(TEXT) if kind == "console"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, text in NAMED.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_nothing_on_the_page_is_left_out() -> None:
    assert (len(NAMED), len(CONSOLE), len(BLOCK.findall(TEXT))) == (9, 2, 11)


@pytest.mark.parametrize("name", [name for name in NAMED if name.endswith(".md")])
def test_an_agent_file_is_right(folder: Path, name: str) -> None:
    assert workflows.cast_agent(Project(folder), folder / name).obstacles == {}


def test_the_workflow_is_right(folder: Path) -> None:
    found = workflows.cast(Project(folder), folder / "front.yaml").complete()
    assert (found.warnings, len(found.cast)) == ((), 6)


@pytest.mark.parametrize("shown", CONSOLE)
def test_a_command_answers_as_shown(folder: Path, shown: str, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache is not None
    (folder / ".moot").mkdir()
    command, _, answer = shown.partition("\n")
    ended = Terminal(folder, pytestconfig.cache.mkdir("bytecode")).ok(*shlex.split(command.removeprefix("$ moot ")))
    assert ended.out == answer


def test_every_key_of_its_own_has_a_line() -> None:
    told = set(re.findall(r"`(\w+)`", "\n".join(line for line in TEXT.splitlines() if line.startswith("|"))))
    assert WorkingShape.model_fields.keys() - DefaultsShape.model_fields.keys() - told == set()
