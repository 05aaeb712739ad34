"""The client's end of a relay: lines in, lines out, in this process."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from moot.mcp.relay.courier import Client
from moot.mcp.relay.link import Patience, TakeOver
from moot.mcp.relay.relaying import relay
from tests.mcp import clients

DEADLINE = clients.DEADLINE


class Console:
    """What a client writes and reads."""

    def __init__(self) -> None:
        self.stdin = asyncio.StreamReader()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()

    def write(self, data: bytes, /) -> None:
        assert data.endswith(b"\n")
        assert data.count(b"\n") == 1
        self._lines.put_nowait(data)

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def put(self, message: object) -> None:
        self.stdin.feed_data(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    async def get(self) -> dict[str, Any]:
        async with asyncio.timeout(DEADLINE):
            found: dict[str, Any] = json.loads(await self._lines.get())
            return found

    @property
    def is_silent(self) -> bool:
        return self._lines.empty()

    async def ask(self, method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> dict[str, Any]:
        """A request of a handshake revision, and the next message that comes."""
        self.put(clients.request(method, params, id))
        return await self.get()

    async def ask_stateless(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self.put(clients.stateless(method, params)[0])
        return await self.get()

    async def open(self, version: str = "2025-06-18") -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = await self.ask("initialize", params, "opening")
        self.put({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    async def send(self, message: str, id: object = 1) -> dict[str, Any]:
        return await self.ask("tools/call", {"name": "channel_send", "arguments": {"message": message}}, id)


@asynccontextmanager
async def relaying(
    socket: Path, token: str, *, take_over: TakeOver | None = None, patience: Patience | None = None
) -> AsyncGenerator[Console]:
    """A relay at work; leaving ends its input, and it must end then."""
    console = Console()
    async with asyncio.TaskGroup() as group:
        group.create_task(relay(socket, Client(token), console.stdin, console, take_over=take_over, patience=patience))
        yield console
        console.stdin.feed_eof()
