"""Servers of others, as tests declare and start them."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from moot.client import connections
from moot.client.connections import Connections
from moot.client.external import External, Surroundings
from moot.core import servers
from moot.core.servers import Server

ODD = str(Path(__file__).with_name("odd_server.py"))


def odd(**said: object) -> Server:
    return servers.server(
        "odd", {"command": sys.executable, "args": [ODD], "timeout": 60, "startupTimeout": "1m", **said}
    )


@asynccontextmanager
async def opened(root: Path, *declared: Server, **environ: str) -> AsyncGenerator[Connections]:
    async with (
        asyncio.timeout(100),
        connections.opened(declared, Surroundings(root, {**os.environ, **environ})) as found,
    ):
        yield found


@asynccontextmanager
async def one(root: Path, **said: object) -> AsyncGenerator[External]:
    async with opened(root, odd(**said)) as found:
        yield found.connected["odd"]


@asynccontextmanager
async def over_http(root: Path) -> AsyncGenerator[tuple[str, asyncio.subprocess.Process]]:
    """The address of a server, and its process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, ODD, "http", stdout=asyncio.subprocess.PIPE, cwd=root
    )
    try:
        assert process.stdout is not None
        port = int(await asyncio.wait_for(process.stdout.readline(), 60))
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
