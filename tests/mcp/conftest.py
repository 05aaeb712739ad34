"""A server, and people to call it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.mcp import server
from moot.mcp.server import Address, Endpoints
from moot.store.store import Store
from tests.mcp.people import Meeting


@pytest.fixture(params=["sqlite_store", pytest.param("pg_store", marks=pytest.mark.chaos)])
def store(request: pytest.FixtureRequest) -> Store:
    """PostgreSQL only when there is time: tools are tested on both, and who calls them is too."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def meeting(store: Store) -> Meeting:
    return Meeting(store)


@pytest.fixture
async def address(anyio_backend: object, store: Store, tmp_path: Path) -> AsyncIterator[Address]:
    """Where a server listens while the test runs."""
    async with server.serving(store, Endpoints(tmp_path / "moot.sock")) as listening:
        yield listening
