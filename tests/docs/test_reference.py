"""The reference is what the code says, and a page that is not is found."""

import shutil
from pathlib import Path

import pytest

from moot.cli import program
from moot.tools import table
from scripts import reference
from tests.docs import pages


def test_every_command_tool_key_and_code_has_its_place() -> None:
    made = reference.pages()
    for name in program.MODULES:
        assert f"### moot {name}\n" in made["commands.md"]
    assert "#### moot task claim\n" in made["commands.md"]
    for name in table.TOOLS:
        assert f"### {name}\n" in made["tools.md"]
    assert "| `kickoff` | text | The first message; it wakes whom it mentions. |" in made["workflow-file.md"]
    assert "| `TASK_NOT_FOUND` |" in made["error-codes.md"]
    assert "| `BUDGET_USED_UP` | A run cannot go on with what it may use. | 3 |" in made["error-codes.md"]


def test_a_page_that_says_something_else_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(reference.stale()) == []
    copied = tmp_path / "docs" / "reference"
    shutil.copytree(pages.ROOT / "docs" / "reference", copied)
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    monkeypatch.setattr(reference, "FOLDER", copied)
    shutil.copytree(pages.ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (copied / "tools.md").write_text("# Tools\n")
    (copied / "commands.md").unlink()
    assert [one.partition(":")[0] for one in reference.stale()] == [
        "docs/reference/commands.md",
        "docs/reference/tools.md",
    ]
