"""One sandbox for all tests: a worker process is worth keeping."""

from collections.abc import AsyncIterator

import pytest

from moot.engine.expressions.sandbox import Sandbox


@pytest.fixture(scope="module")
async def sandbox(anyio_backend: object) -> AsyncIterator[Sandbox]:
    async with Sandbox().open() as found:
        yield found
