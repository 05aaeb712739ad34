"""Starts and kills host processes."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

SECONDS = 30.0
_ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def host_process(url: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A host that is ready; killed with SIGKILL on leaving."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.stories.host_process", url, cwd=_ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(SECONDS):
            line = await process.stdout.readline()
        assert line == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
