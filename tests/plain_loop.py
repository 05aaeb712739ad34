"""The loop of the standard library, for tests that set its clock forward: timers of uvloop do not ask for the time."""

import asyncio

import pytest


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def set_forward(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds  # pyright: ignore[reportAttributeAccessIssue]
