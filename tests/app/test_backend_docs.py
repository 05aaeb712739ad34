"""Every workflow on the pages about backends is taken as it stands."""

import re
from pathlib import Path

import pytest

from moot.app import references, workflows
from moot.app.project import Project

PAGES = Path(__file__).parents[2] / "docs" / "backends"
BLOCK = re.compile(r"^```yaml\n(agents:\n.*?)^```$", re.DOTALL | re.MULTILINE)
README = Path(__file__).parents[2] / "README.md"
FOUND = [(page.stem, block) for page in sorted(PAGES.glob("*.md")) for block in BLOCK.findall(page.read_text())]


def test_the_pages_have_examples() -> None:
    assert {"command", "external", "human"} <= {page for page, _ in FOUND}


@pytest.mark.parametrize(("page", "text"), FOUND)
def test_an_example_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, text: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = tmp_path / f"{page}.yaml"
    file.write_text(text)
    assert workflows.read(Project(tmp_path), file).agents


def test_the_first_workflow_with_real_agents_wakes_only_who_begins(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n# pair.yaml\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)
    file = tmp_path / "pair.yaml"
    file.write_text(text)
    assert references.woken(workflows.read(Project(tmp_path), file)) == ("coder",)
