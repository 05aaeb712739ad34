"""Worker processes that serve MCP on a unix socket and tell how much CPU they have used: moot, and the bare SDK."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import BaseModel
from starlette.applications import Starlette

from bench import flowing, loops, sending
from bench.crew import Job, Order
from moot.core.caller import SYSTEM
from moot.mcp import server
from moot.registry import tokens
from moot.registry.tokens import Grant
from moot.tools.around import Around

SECURITY = TransportSecuritySettings(allowed_hosts=["localhost"])


class Sent(BaseModel):
    """What the empty tool answers, as a tool of moot would."""

    status: str = "sent"


@contextmanager
def moot(setup: Order) -> Generator[Job]:
    with _in_thread(_moot(Path(setup["folder"]), setup["token"])) as job:
        yield job


@contextmanager
def flows(setup: Order) -> Generator[Job]:
    """Serves whoever drives flows, and hosts what carries them on."""
    with _in_thread(_flows(Path(setup["folder"]), setup["token"])) as job:
        yield job


@contextmanager
def empty_tool(setup: Order) -> Generator[Job]:
    """As the SDK's users write it: typed arguments, a typed result, nothing in between."""
    app = MCPServer("empty", log_level="ERROR")

    @app.tool()
    async def channel_send(message: str) -> Sent:
        return Sent()

    assert channel_send
    with _in_thread(_bare(app.streamable_http_app(transport_security=SECURITY), setup["folder"])) as job:
        yield job


@contextmanager
def empty_handler(setup: Order) -> Generator[Job]:
    """The SDK's lower layer, which moot stands on: neither arguments nor result are looked at."""
    answer = types.CallToolResult(content=[types.TextContent(text="sent")], structured_content={"status": "sent"})

    async def call(context: ServerRequestContext[object], params: types.CallToolRequestParams) -> types.CallToolResult:
        return answer

    app = Server("empty", get_tool_input_schema=lambda _: None, on_call_tool=call)
    with _in_thread(_bare(app.streamable_http_app(transport_security=SECURITY), setup["folder"])) as job:
        yield job


@asynccontextmanager
async def _moot(folder: Path, token: str) -> AsyncGenerator[None]:
    channel = await sending.open_channel(folder)
    grant = Grant("member", sending.INSTANCE, "member", channel.sender)
    await channel.store.write(lambda tx: tokens.mint(tx, token, grant), caller=SYSTEM)
    async with server.serving(channel.store, server.Endpoints(folder / "mcp.sock", port=None)):
        yield
    await channel.store.close()


@asynccontextmanager
async def _flows(folder: Path, token: str) -> AsyncGenerator[None]:
    async with flowing.staged(folder) as stage:
        grant = Grant("member", flowing.INSTANCE, "member", stage.driver)
        await stage.store.write(lambda tx: tokens.mint(tx, token, grant), caller=SYSTEM)
        how = server.Options(around=Around(ears=stage.ears))
        async with server.serving(stage.store, server.Endpoints(folder / "mcp.sock", port=None), how):
            yield


@asynccontextmanager
async def _bare(app: Starlette, folder: str) -> AsyncGenerator[None]:
    Path(folder).mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"{folder}/mcp.sock")
        unix.listen(64)
        config = uvicorn.Config(app, http="httptools", access_log=False, log_level="error", timeout_keep_alive=75)
        http = uvicorn.Server(config)
        serving = asyncio.create_task(http.serve(sockets=[unix]))
        yield
        http.should_exit = True
        await serving


@contextmanager
def _in_thread(server: AbstractAsyncContextManager[None]) -> Generator[Job]:
    """Serve on a loop of its own, while this thread answers what CPU the process has used so far."""
    is_up, is_over = threading.Event(), asyncio.Event()
    started: list[asyncio.AbstractEventLoop] = []

    async def live() -> None:
        started.append(asyncio.get_running_loop())
        async with server:
            is_up.set()
            await is_over.wait()

    thread = threading.Thread(target=loops.run, args=(live(),), daemon=True)
    thread.start()
    if not is_up.wait(30):
        raise RuntimeError("the server did not start")
    yield lambda order: {"cpu": time.process_time()}
    started[0].call_soon_threadsafe(is_over.set)
    thread.join(10)
