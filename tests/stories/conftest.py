"""Stories happen in a project folder of their own."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from moot.app.stores import open_store
from moot.store.store import Store
from tests.cli.terminal import Terminal
from tests.stories.house import House


@pytest.fixture
def house() -> Iterator[House]:
    """Not pytest's folder, whose path grows with every run: who listens on a socket is found by its whole path."""
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "project"
        (root / ".moot").mkdir(parents=True)
        (root / "home").mkdir()
        yield House(root)


@pytest.fixture
def terminal(bytecode: Path) -> Iterator[Terminal]:
    """A terminal in a project of its own."""
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        (root / ".moot").mkdir()
        (root / "home").mkdir()
        yield Terminal(root, bytecode)


@pytest.fixture(params=["sqlite", "postgres"])
def both(request: pytest.FixtureRequest, terminal: Terminal) -> Terminal:
    """The same on each of the two databases."""
    return terminal if request.param == "sqlite" else replace(terminal, url=request.getfixturevalue("pg_made_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store that several processes share, on each of the two databases."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store' / 'moot.db'}"
    else:
        yield request.getfixturevalue("pg_made_url")


@pytest.fixture
async def shared(url: str) -> AsyncIterator[Store]:
    store = open_store(url, create=True)
    yield store
    await store.close()
