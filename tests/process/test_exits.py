import asyncio
import errno
import os
import subprocess
from collections.abc import Iterator

import pytest

from moot.process.exits import ExitWatch
from tests.process.scripts import await_exit, is_zombie


@pytest.fixture(params=["source", "thread"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    def refused(pid: int, flags: int = 0) -> int:
        raise OSError(errno.ENOSYS, "refused")

    if request.param == "thread":
        monkeypatch.setattr(os, "pidfd_open", refused)


@pytest.fixture
def reader() -> Iterator[subprocess.Popen[bytes]]:
    """Exits when its input is closed."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        yield process


async def test_an_exit_is_told_once_and_the_child_left_unreaped(reader: subprocess.Popen[bytes]) -> None:
    told: list[bool] = []
    exited = asyncio.Event()

    def tell() -> None:
        told.append(True)
        exited.set()

    watch = ExitWatch(reader.pid, tell)
    assert reader.stdin is not None
    reader.stdin.close()
    async with asyncio.timeout(10):
        await exited.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    assert told == [True]
    assert is_zombie(reader.pid)
    watch.close()


async def test_a_child_that_exited_before_is_told_too(reader: subprocess.Popen[bytes]) -> None:
    assert reader.stdin is not None
    reader.stdin.close()
    await_exit(reader.pid)
    exited = asyncio.Event()
    ExitWatch(reader.pid, exited.set)
    async with asyncio.timeout(10):
        await exited.wait()


async def test_after_closing_nothing_is_told(reader: subprocess.Popen[bytes]) -> None:
    told: list[bool] = []
    exited = asyncio.Event()
    watch = ExitWatch(reader.pid, lambda: told.append(True))
    control = ExitWatch(reader.pid, exited.set)
    watch.close()
    assert reader.stdin is not None
    reader.stdin.close()
    async with asyncio.timeout(10):
        await exited.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    assert told == []
    control.close()
