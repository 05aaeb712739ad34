"""Serves the app on its sockets, inside a loop that somebody else owns, and stops in bounded time.

Signals are the host's: uvicorn installs no handlers here. Nothing ticks while nobody calls.
"""

import asyncio
import math
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import field
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from moot.core.caller import Caller
from moot.core.records import record
from moot.edge.page import Page
from moot.mcp import connection, sockets
from moot.mcp.app import PATH, App
from moot.mcp.connection import Limits
from moot.mcp.sockets import UnixSocket
from moot.store.store import Store
from moot.tools.around import Around

GRACE = 0.5  # for calls that are being answered when the server stops
_CUT = 1.0  # for those that have been broken off
_TURNS = 3  # of the loop, in which a connection that is told to close does so when nothing is being answered


@record
class Endpoints:
    """Where to listen; None: not there."""

    socket: Path | None = None
    host: str = "127.0.0.1"
    port: int | None = 0


@record
class Address:
    """Where a server listens."""

    socket: Path | None
    url: str | None


@record
class Options:
    """How to serve."""

    trust_agent_header: bool = False
    page: Page | None = None  # answers everything but /mcp and /health
    met: Callable[[Caller], None] | None = None  # called for everybody who has proven who they are
    around: Around = field(default_factory=Around)  # the calls of tools
    grace: float = GRACE
    limits: Limits = field(default_factory=Limits)


class _Http(uvicorn.Server):
    """uvicorn without its signal handlers and its tick."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=connection.within(limits),
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_keep_alive=math.ceil(limits.idle),
                timeout_graceful_shutdown=1,
            )
        )
        self.is_up = asyncio.Event()
        self.is_done = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self.is_up.set()
        await self.is_done.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """uvicorn's pauses for a tenth of a second, by which every program that has served would end later."""
        for server in self.servers:
            server.close()
        for open_one in list(self.server_state.connections):
            open_one.shutdown()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)


@asynccontextmanager
async def serving(store: Store, endpoints: Endpoints, options: Options | None = None) -> AsyncGenerator[Address]:
    """Serve while the block runs. What goes wrong in the block comes out of it as it is."""
    chosen = options or Options()
    app = App(
        store,
        trust_agent_header=chosen.trust_agent_header,
        page=chosen.page,
        met=chosen.met,
        around=chosen.around,
    )
    failure: Exception | None = None
    with _bound(endpoints) as (unix, tcp):
        async with _listening(_Http(app, chosen.limits), app, [unix and unix.listening, tcp]), app.running():
            try:
                yield Address(unix and unix.path, tcp and sockets.url_of(tcp, PATH))
            except Exception as error:  # noqa: BLE001  # kept from the task groups, which would wrap it
                failure = error
            finally:
                if unix:
                    unix.leave()
                await app.stop(chosen.grace)
    if failure is not None:
        raise failure


@asynccontextmanager
async def _listening(http: _Http, app: App, places: list[socket.socket | None]) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(http.serve([place for place in places if place]))
        await http.is_up.wait()
        try:
            yield
        finally:
            # The sessions have ended; what is still being answered is a call that waits.
            await app.cut(_CUT)
            http.is_done.set()
            await asyncio.wait([serving])  # before the group cancels it for what went wrong in the block


async def serve(
    store: Store,
    endpoints: Endpoints,
    options: Options | None = None,
    *,
    ready: Callable[[Address], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve until `stop` is set or the task is cancelled; `ready` hears where."""
    async with serving(store, endpoints, options) as address:
        if ready is not None:
            ready(address)
        await (stop or asyncio.Event()).wait()


@contextmanager
def _bound(endpoints: Endpoints) -> Generator[tuple[UnixSocket | None, socket.socket | None]]:
    unix = UnixSocket(endpoints.socket) if endpoints.socket else None
    try:
        tcp = None if endpoints.port is None else sockets.tcp(endpoints.host, endpoints.port)
        try:
            yield unix, tcp
        finally:
            if tcp:
                tcp.close()
    finally:
        if unix:
            unix.close()
