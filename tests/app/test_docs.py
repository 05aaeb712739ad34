"""Every example of "Write a workflow" is taken as it stands, and every command answers as it is shown."""

import re
from pathlib import Path

import pytest

from moot.app import workflows
from moot.app.project import Project
from tests.cli.terminal import Terminal

PAGE = Path(__file__).parents[2] / "docs" / "workflows.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TEAM = "agents: {lead: {backend: scripted}, scribe: {backend: scripted}}\n"
BLOCKS = BLOCK.findall(PAGE.read_text())
NAMED = {name: text for _, name, text in BLOCKS if name}
FRAGMENTS = [text for kind, name, text in BLOCKS if kind == "yaml" and not name]
CONSOLE = [text for kind, _, text in BLOCKS if kind == "console"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, text in NAMED.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_nothing_on_the_page_is_left_out() -> None:
    assert sorted(NAMED) == ["agents/lead.md", "prompts/reviewer.md", "review.yaml", "team.yaml"]
    assert (len(FRAGMENTS), len(CONSOLE), len(BLOCKS)) == (7, 1, 12)


@pytest.mark.parametrize("name", [name for name in NAMED if name.endswith(".yaml")])
def test_a_whole_file_is_right(folder: Path, name: str) -> None:
    assert workflows.read(Project(folder), folder / name).warnings == ()


@pytest.mark.parametrize("text", FRAGMENTS)
def test_a_part_is_right_with_a_team(folder: Path, text: str) -> None:
    file = folder / "part.yaml"
    file.write_text(TEAM + text)
    assert len(workflows.read(Project(folder), file).agents) == 2


@pytest.mark.parametrize("shown", CONSOLE)
def test_a_command_answers_as_shown(folder: Path, shown: str, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache is not None
    (folder / ".moot").mkdir()
    command, _, answer = shown.partition("\n")
    ended = Terminal(folder, pytestconfig.cache.mkdir("bytecode")).ok(*command.removeprefix("$ moot ").split())
    assert ended.out == answer
