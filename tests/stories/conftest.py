"""Stories happen in a project folder of their own."""

from pathlib import Path

import pytest

from tests.stories.house import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    root = tmp_path / "project"
    (root / ".moot").mkdir(parents=True)
    (root / "home").mkdir()
    return House(root)
