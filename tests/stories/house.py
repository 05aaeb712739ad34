"""A project folder with real moot processes in it."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

SECONDS = 60.0


@dataclass(frozen=True)
class House:
    """Runs commands in the folder, as a person would."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.root / "home"), "NO_COLOR": "1"}

    async def moot(self, *arguments: str, code: int = 0) -> str:
        """What the command printed; its exit code must be this one."""
        process = await self.start(*arguments, stderr=asyncio.subprocess.PIPE)
        async with asyncio.timeout(SECONDS):
            out, error = await process.communicate()
        assert process.returncode == code, f"moot {arguments} ended with {process.returncode}: {error.decode()}"
        return out.decode()

    async def json(self, *arguments: str) -> Any:
        return json.loads(await self.moot(*arguments, "--json"))

    async def until_said(self, text: str) -> None:
        """Returns once somebody has said this."""
        process = await self.start("log", "-f", "--json")
        try:
            assert process.stdout is not None
            async with asyncio.timeout(SECONDS):
                while text not in (line := await process.stdout.readline()).decode():
                    assert line, f"{text!r} was not said"
        finally:
            await self.end(process)

    @asynccontextmanager
    async def serving(self, agents: str = "", more: Sequence[str] = ()) -> AsyncGenerator[asyncio.subprocess.Process]:
        """A host that is ready; ended by SIGTERM on leaving, and by SIGKILL if that does not help."""
        file = self.root / "agents.yaml"
        file.write_text(agents)
        extra = ("--agents", str(file)) if agents else ()
        process = await self.start("serve", *extra, *more)
        try:
            assert process.stdout is not None
            async with asyncio.timeout(SECONDS):
                line = await process.stdout.readline()
            assert line.startswith(b"moot serves on "), line
            yield process
        finally:
            await self.end(process)

    @asynccontextmanager
    async def client(self, *arguments: str) -> AsyncGenerator[Client]:
        """An MCP client that has started `moot mcp` itself."""
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "moot", "mcp", *arguments], cwd=self.root, env=self.environment
        )
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(SECONDS):
                client = await stack.enter_async_context(Client(stdio_client(parameters)))
            yield client

    async def start(self, *arguments: str, stderr: int | None = None) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "moot",
            *arguments,
            cwd=self.root,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )

    async def end(self, process: asyncio.subprocess.Process) -> None:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
        await process.wait()
