"""Starts and kills host processes."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS = 30.0
_ROOT = Path(__file__).parents[2]


@dataclass
class HostProcess:
    """A host that is ready."""

    pid: int
    is_killed: bool = False

    def kill(self) -> None:
        """With SIGKILL."""
        if not self.is_killed:
            self.is_killed = True
            os.kill(self.pid, signal.SIGKILL)


class Nursery:
    """Starts one host after the other."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @asynccontextmanager
    async def host(self, url: str) -> AsyncGenerator[HostProcess]:
        """Killed on leaving, and gone then."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{url}\n".encode())
        word, pid = (await self._line()).split()
        assert word == "ready"
        process = HostProcess(int(pid))
        try:
            yield process
        finally:
            process.kill()
            assert await self._line() == "gone"

    async def _line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(SECONDS):
            return (await self._process.stdout.readline()).decode().strip()


@asynccontextmanager
async def nursery() -> AsyncGenerator[Nursery]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.stories.host_process"),
        cwd=_ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Nursery(process)
    finally:
        process.kill()
        await process.wait()
