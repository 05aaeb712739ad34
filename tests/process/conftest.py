"""Every test of processes runs on both event loops that moot may run on, and must leave no process behind."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from moot.process import environment, sweep


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
def marker() -> str:
    """No other test's, because tests run beside each other."""
    return secrets.token_hex(8)


@pytest.fixture(autouse=True)
def _no_strays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    all_of_test = secrets.token_hex(8)
    monkeypatch.setenv(environment.MARKER, all_of_test)
    yield
    assert sweep.kill_marked(all_of_test) == sweep.Swept(ended=(), survivors=())
