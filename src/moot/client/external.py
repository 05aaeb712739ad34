"""One server of others, for as long as a tree of sessions lasts: started, asked, and started once more if it died."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx2
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from moot.client import answers, stdio, wire
from moot.client.errors import (
    CallFailed,
    NotCalled,
    OutcomeUnknown,
    ServerNotStarted,
    ServerUnreachable,
    ToolFailed,
)
from moot.client.mending import MendingStream
from moot.client.offer import Answer, Offer
from moot.core import secrecy, servers
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.core.servers import Server
from moot.process import child, environment
from moot.process.child import Running
from moot.process.guardian import Guardian, guarded
from moot.process.program import Finished, Program, as_text

_log = logging.getLogger("moot.client")
_MOST_STARTS = 2
_MOST_PAGES = 50
_LISTENS_AGAIN = 5.0  # seconds after it was cut off
_GRACE = 2.0  # seconds for a program that sees the end of its input


@record
class Surroundings:
    """Where servers are started, and what `${VAR}` stands for."""

    root: Path
    environ: Mapping[str, str] = field(repr=False)
    guardian: Guardian | None = None


class External:
    """Made and ended by `connections.opened`."""

    def __init__(self, server: Server, around: Surroundings, group: asyncio.TaskGroup) -> None:
        self.server = server
        self._around = around
        self._group = group
        self._opened: asyncio.Future[Client] | None = None
        self._lost = anyio.Event()  # of the connection that was opened last
        self._starts = 0
        self._offers: tuple[Offer, ...] = ()
        self._has_changed = asyncio.Event()
        self._leaving = asyncio.Event()
        self._printed = ""  # by its program before it ended, for the error

    @property
    def name(self) -> str:
        return self.server.name

    def offers(self) -> tuple[Offer, ...]:
        """The tools it has at the moment, as far as they are allowed."""
        return self._offers

    def asks(self, tool: str) -> bool:
        return self.server.asks(tool)

    def leave(self) -> None:
        self._leaving.set()

    async def client(self) -> Client:
        """The living connection. NotCalled if there is none."""
        if self._opened is None or (self._opened.done() and self._lost.is_set()):
            if self.server.command and self._starts >= _MOST_STARTS:
                raise NotCalled(
                    f"The MCP server {self.name} has died twice, and is not started again.", "Go on without."
                )
            self._starts += 1
            self._opened, self._lost = asyncio.get_running_loop().create_future(), anyio.Event()
            self._opened.add_done_callback(_heed)
            self._group.create_task(self._hold(self._opened, self._lost))
        return await asyncio.shield(self._opened)

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Answer:
        """A tool's own error is an answer; where there is none, a CallFailed says whether it was executed."""
        if not self.server.offers(tool):
            raise NotCalled(f"{self.name} is not allowed to do {tool[:80]!r}.", "Use another tool.")
        client = await self.client()
        params = CallToolRequestParams(name=tool, arguments=cast(dict[str, Any], dict(arguments)))
        with wire.noting() as noted:
            try:
                async with asyncio.timeout(self.server.timeout):
                    # Not `call_tool`: that refuses results that do not fit what the server says of them.
                    result = await client.session.send_request(CallToolRequest(params=params), CallToolResult)
            except TimeoutError:
                raise self._unknown(f"has not answered in {self.server.timeout:g} s") from None
            except MCPError as error:
                raise self._explained(error, noted) from error
            except ValueError as error:  # pydantic's included
                raise ToolFailed(f"The MCP server {self.name} gave an answer that is none.", "") from error
        if result.result_type != "complete":
            raise ToolFailed(f"{tool} wants to be told more before it goes on, which nobody here can.", "")
        return answers.answer(result)

    def _explained(self, error: MCPError, noted: list[MootError]) -> CallFailed:
        match noted[-1] if noted else None:
            case ServerUnreachable(was_sent=False) as found:
                self._has_gone()
                return NotCalled(f"The MCP server {self.name} cannot be reached: {found.fact}", "Try again later.")
            case ServerUnreachable():
                return self._unknown("was cut off")
            case MootError() as found if 400 <= getattr(found, "status", 0) < 500:
                self._has_gone()  # it may not know this connection any more: the next call makes a new one
                return NotCalled(f"The MCP server {self.name} refused: {found.fact}", "")
            case MootError():
                return self._unknown("had a failure of its own")
            case _ if error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
                return self._unknown("was cut off")
            case _:
                return ToolFailed(f"The MCP server {self.name} answered: {error.message[:2000]}", "")

    def _unknown(self, what: str) -> OutcomeUnknown:
        return OutcomeUnknown(
            f"The MCP server {self.name} {what}, and how this ended is not known.",
            "Look at what it would have changed before you repeat it.",
        )

    def _has_gone(self) -> None:
        if not self.server.command:
            self._opened = None

    async def _hold(self, opened: "asyncio.Future[Client]", lost: anyio.Event) -> None:
        """Keep a connection open, in a task of its own: the scopes of the library must nest with all others of their
        task."""
        with wire.noting() as noted:
            try:
                async with asyncio.timeout(self.server.startup_timeout) as limit, self._connected(lost) as client:
                    self._offers = await self._listed(client)
                    limit.reschedule(None)
                    opened.set_result(client)
                    await self._attend(client, lost)
            except Exception as error:  # noqa: BLE001  # the library wraps what went wrong in groups of groups
                if opened.done():
                    _log.debug("the connection to %s ended", self.name, exc_info=True)
                else:
                    opened.set_exception(self._not_started(error, noted))
            finally:
                if not opened.done():
                    opened.cancel()
                if self._opened is opened:
                    self._opened = None

    async def _attend(self, client: Client, lost: anyio.Event) -> None:
        """Until it is lost or left; meanwhile its list of tools is kept."""
        async with asyncio.TaskGroup() as group:
            awaited = (lost.wait(), self._leaving.wait())
            keeping = [group.create_task(self._keep_offers(client)), group.create_task(self._listen(client))]
            ends = [group.create_task(one) for one in awaited]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for one in (*keeping, *ends):
                one.cancel()

    async def _keep_offers(self, client: Client) -> None:
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            try:
                async with asyncio.timeout(self.server.timeout):
                    self._offers = await self._listed(client)
            except (MCPError, TimeoutError, ValueError) as error:
                _log.warning("the tools of %s cannot be listed anew: %s", self.name, error)

    async def _listen(self, client: Client) -> None:
        """Servers of today tell what has changed only to who listens; older ones tell it by themselves."""
        while client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._has_changed.set()  # what happened before nobody has heard
                    async for _ in changes:
                        self._has_changed.set()
            except (SubscriptionLost, TimeoutError):
                pass
            except (MCPError, RuntimeError, ValueError):  # it cannot tell
                return
            await asyncio.sleep(_LISTENS_AGAIN)

    async def _listed(self, client: Client) -> tuple[Offer, ...]:
        found: list[Offer] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            found += [answers.offer(one) for one in page.tools if self.server.offers(one.name)]
            cursor = page.next_cursor
            if cursor is None:
                break
        return tuple({one.name: one for one in found}.values())

    async def _noticed(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._has_changed.set()

    @asynccontextmanager
    async def _connected(self, lost: anyio.Event) -> AsyncGenerator[Client]:
        async with AsyncExitStack() as stack:
            if self.server.command:
                running = await stack.enter_async_context(self._started())
                transport = stdio.speaking(running, lost)
            else:
                transport = streamable_http_client(
                    self.server.url or "",
                    http_client=await stack.enter_async_context(self._http()),
                    max_sse_event_size=stdio.LONGEST,
                )
            client = Client(_mending(transport), message_handler=self._noticed, cache=None)
            yield await stack.enter_async_context(client)

    @asynccontextmanager
    async def _started(self) -> AsyncGenerator[Running]:
        environ, server = self.server.seen(self._around.environ), self.server
        env = environment.build({name: servers.filled(value, environ) for name, value in server.env.items()})
        with guarded(self._around.guardian) as marker:
            program = Program(
                argv=server.command,
                cwd=self._around.root / (server.cwd or "."),
                env=env,
                secrets=secrecy.secrets_of(self._around.environ, server.env),
                stdin_stays_open=True,
                output_cap=10_000,
                line_cap=stdio.LONGEST,
                grace=_GRACE,
                marker=marker,
            )
            async with child.start(program) as running:
                try:
                    yield running
                finally:
                    running.close_stdin()
                    finished = await _ended(running)
                    self._printed = as_text(finished.stderr)[-2000:] if finished else ""

    def _http(self) -> httpx2.AsyncClient:
        url, environ = self.server.url or "", self.server.seen(self._around.environ)
        parts = urlsplit(url)
        proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
        return httpx2.AsyncClient(
            transport=wire.SteadyTransport(httpx2.AsyncHTTPTransport(proxy=proxy)),
            headers={name: servers.filled(value, environ) for name, value in self.server.headers.items()},
            timeout=max(self.server.timeout, self.server.startup_timeout),  # calls have a limit of their own
            trust_env=False,
        )

    def _not_started(self, error: Exception, noted: list[MootError]) -> ServerNotStarted:
        if isinstance(error, TimeoutError):
            why = f"it was not ready in {self.server.startup_timeout:g} s"
        elif noted:
            why = noted[-1].fact.rstrip(".")
        else:
            why = str(_innermost(error)).rstrip(".") or type(error).__name__
        said = f" It wrote: {self._printed.strip()[-500:].rstrip('.')}." if self._printed.strip() else ""
        where = f" in {self.server.source}" if self.server.source else ""
        return ServerNotStarted(
            f"The MCP server {self.name} could not be started: {why}.{said}",
            f"Correct `mcp_servers.{self.name}`{where}, or write optional: true there.",
        )


@asynccontextmanager
async def _mending(transport: Any) -> AsyncGenerator[TransportStreams]:
    async with transport as (reading, writing):
        yield MendingStream(reading), writing


async def _ended(running: Running) -> Finished | None:
    """How it ended by itself; None if it has to be ended."""
    try:
        async with asyncio.timeout(_GRACE):
            return await running.wait()
    except TimeoutError:
        return None


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    return error


def _heed(opened: "asyncio.Future[Client]") -> None:
    """Nobody may wait any more for what went wrong."""
    if not opened.cancelled():
        opened.exception()
