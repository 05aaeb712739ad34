"""Clients of a server under test: the official one, and raw ones for what it would never send."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from moot.mcp.server import Address

MODERN = "2026-07-28"
DEADLINE = 10.0
Over = Literal["unix", "tcp"]


@asynccontextmanager
async def http(address: Address, token: str | None, over: Over = "unix") -> AsyncGenerator[httpx2.AsyncClient]:
    """Plain HTTP to the server, with a token or without."""
    headers = {"Accept": "application/json, text/event-stream"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    transport = httpx2.AsyncHTTPTransport(uds=str(address.socket) if over == "unix" else None)
    base = "http://localhost" if over == "unix" else str(address.url).removesuffix("/mcp")
    async with httpx2.AsyncClient(transport=transport, headers=headers, base_url=base, timeout=DEADLINE) as client:
        yield client


@asynccontextmanager
async def official(
    address: Address, token: str, *, mode: str = "auto", over: Over = "unix", **options: Any
) -> AsyncGenerator[Client]:
    """The SDK's own client, in the stateless revision or, with `mode="legacy"`, by handshake."""
    async with (
        http(address, token, over) as client,
        Client(
            streamable_http_client(f"{str(client.base_url).rstrip('/')}/mcp", http_client=client),
            mode=mode,
            read_timeout_seconds=DEADLINE,
            **options,
        ) as connected,
    ):
        yield connected


def request(method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": dict(params or {})}


def stateless(method: str, params: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """A message of the stateless revision, and the headers that repeat it."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    given = dict(params or {})
    message = request(method, {**given, "_meta": {**meta, **given.get("_meta", {})}})
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    name = given.get("name") or given.get("uri")
    return message, headers | ({"Mcp-Name": str(name)} if name else {})


async def ask(client: httpx2.AsyncClient, method: str, params: Mapping[str, Any] | None = None) -> httpx2.Response:
    """One request of the stateless revision."""
    message, headers = stateless(method, params)
    return await client.post("/mcp", json=message, headers=headers)


async def call(client: httpx2.AsyncClient, tool: str, arguments: Mapping[str, Any], **meta: object) -> dict[str, Any]:
    """A tool's answer, in the stateless revision."""
    response = await ask(client, "tools/call", {"name": tool, "arguments": dict(arguments), "_meta": meta})
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()["result"]
    return result


@dataclass(slots=True)
class OldSession:
    """A session of a handshake revision, message by message."""

    client: httpx2.AsyncClient
    version: str
    session: str = ""

    def headers(self) -> dict[str, str]:
        return {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": self.version}

    async def open(self) -> dict[str, Any]:
        params = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        response = await self.client.post("/mcp", json=request("initialize", params, 0))
        assert response.status_code == 200, response.text
        self.session = response.headers["mcp-session-id"]
        await self.tell("notifications/initialized")
        result: dict[str, Any] = data_of(response.text)["result"]
        return result

    async def tell(self, method: str, params: Mapping[str, Any] | None = None) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
        return await self.client.post("/mcp", json=message, headers=self.headers())

    async def ask(self, method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> dict[str, Any]:
        response = await self.client.post("/mcp", json=request(method, params, id), headers=self.headers())
        assert response.status_code == 200, response.text
        return data_of(response.text)

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
        """The session's own stream, open by the time the block begins."""
        async with (
            asyncio.timeout(DEADLINE),
            self.client.stream("GET", "/mcp", headers=self.headers()) as response,
        ):
            assert response.status_code == 200, response.status_code
            yield events(response)


def data_of(text: str) -> dict[str, Any]:
    """The one message in an answer, which is plain JSON or a stream of one event."""
    if not text.startswith("{"):
        text = next(line for line in text.splitlines() if line.startswith("data:")).removeprefix("data:")
    found: dict[str, Any] = json.loads(text)
    return found


async def events(response: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))
