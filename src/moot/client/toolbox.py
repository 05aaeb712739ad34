"""The tools of a moot server as a toolbox: calls travel over MCP, answers come back as if made in process."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, RequestParamsMeta, TextContent

from moot.client import wire
from moot.client.errors import ServerRefused
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.keys import KEY, LATER, MAIL
from moot.core.sockets import short_path
from moot.core.tool import ToolAnswer

LONGEST_CALL = 120.0  # more than the longest wait of any tool
_log = logging.getLogger("moot.client")
_ON_SOCKET = "http://localhost/mcp"


class McpToolbox:
    """Calls tools as whoever the token belongs to. Outlives a restart of the server."""

    def __init__(self, client: Client, *, hears_mail: bool) -> None:
        self._client = client
        self._always: Mapping[str, str] = {} if hears_mail else {MAIL: LATER}

    async def call(self, name: str, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer:
        """A tool's own refusal is an answer; where there is none, ServerRefused or ServerUnreachable is raised."""
        said = self._always if key is None else {**self._always, KEY: key}
        meta = cast(RequestParamsMeta, said) if said else None
        with wire.noting() as noted:
            try:
                result = await self._client.call_tool(name, cast(dict[str, Any], dict(arguments)), meta=meta)
            except MCPError as error:
                raise _explained(error, noted) from error
        return _answer(result)


@asynccontextmanager
async def toolbox(where: str | Path, token: str, *, hears_mail: bool = True) -> AsyncGenerator[McpToolbox]:
    """Connect to a server by its URL, or by the path of its socket. Who shows its answers to nobody does not hear of
    new mail in them."""
    failure: Exception | None = None
    async with AsyncExitStack() as stack:
        transport, url = _way(where, stack)
        http = httpx2.AsyncClient(
            transport=wire.SteadyTransport(transport),
            headers={"Authorization": f"Bearer {token}"},
            timeout=LONGEST_CALL,
            trust_env=False,
        )
        await stack.enter_async_context(http)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        opened = asyncio.get_running_loop().create_future()
        holding = group.create_task(_hold(url, http, opened))
        try:
            yield McpToolbox(await opened, hears_mail=hears_mail)
        except Exception as error:  # noqa: BLE001  # kept from the task group, which would wrap it
            failure = error
        finally:
            holding.cancel()
    if failure is not None:
        raise failure


async def _hold(url: str, http: httpx2.AsyncClient, opened: "asyncio.Future[Client]") -> None:
    """Keep a client open, in a task of its own: the SDK's scopes must nest with all others of their task."""
    with wire.noting() as noted:
        try:
            async with Client(streamable_http_client(url, http_client=http, max_sse_event_size=None)) as client:
                opened.set_result(client)
                await asyncio.Event().wait()
        except Exception as error:  # noqa: BLE001  # the SDK wraps what went wrong in groups of groups
            if opened.done():
                _log.warning("the connection to %s ended: %s", url, error)
            else:
                opened.set_exception(_explained(error, noted))


def _way(where: str | Path, stack: AsyncExitStack) -> tuple[httpx2.AsyncBaseTransport, str]:
    if isinstance(where, str):
        return httpx2.AsyncHTTPTransport(), where
    folder = os.open(where.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, folder)
    return httpx2.AsyncHTTPTransport(uds=short_path(where, folder)), _ON_SOCKET


def _explained(error: Exception, noted: list[MootError]) -> MootError:
    return noted[-1] if noted else ServerRefused(f"The server refused: {error}.", "See its log.")


def _answer(result: CallToolResult) -> ToolAnswer:
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    structured = cast(Mapping[str, Json], result.structured_content or {})
    return ToolAnswer(text, structured, is_error=bool(result.is_error))
