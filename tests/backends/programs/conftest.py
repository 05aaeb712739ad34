"""Stand-in programs, a moot server for them, and the certainty that nothing of them is left."""

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from moot.process import environment, sweep
from moot.store.sqlite import SqliteStore
from tests.backends.programs.stage import Stage, stage


@pytest.fixture
async def place(anyio_backend: object, sqlite_store: SqliteStore, tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(sqlite_store, tmp_path) as set_up:
        yield set_up


@pytest.fixture(autouse=True)
def _no_strays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    marker = secrets.token_hex(8)
    monkeypatch.setenv(environment.MARKER, marker)
    yield
    assert sweep.kill_marked(marker) == sweep.Swept(ended=(), survivors=())


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # pyright: ignore[reportUnusedFunction]
    """moot notes there which files it has lent."""
    monkeypatch.setenv("HOME", str(tmp_path / "own-home"))
