from pathlib import Path

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    """In a folder where nothing is, with the project's own store."""
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()  # whatever lies above the temporary folder is not our project
    return Terminal(folder, bytecode)


@pytest.fixture(params=["sqlite", "postgres"])
def both(request: pytest.FixtureRequest, terminal: Terminal) -> Terminal:
    """The same on each of the two databases."""
    return _on(request, terminal)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.chaos)])
def either(request: pytest.FixtureRequest, terminal: Terminal) -> Terminal:
    """The same on each of the two databases, the second only when there is time: what lies below is tested on both."""
    return _on(request, terminal)


def _on(request: pytest.FixtureRequest, terminal: Terminal) -> Terminal:
    if request.param == "sqlite":
        return terminal
    return Terminal(terminal.folder, terminal.bytecode, request.getfixturevalue("pg_url"))
