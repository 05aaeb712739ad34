"""An MCP server with good and bad manners, over stdio or over HTTP. `MANNER` says how it begins."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp_types import ToolAnnotations

server = MCPServer("odd")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def whoami() -> str:
    return f"{os.getpid()} in {os.getcwd()} {sorted(os.environ)} {os.environ.get('GIVEN', '')}"


@server.tool()
def headers(context: Context) -> str:
    return str(dict(context.headers or {}))


@server.tool()
def fail() -> str:
    raise ValueError("it broke")


@server.tool()
def die() -> str:
    os._exit(3)


@server.tool()
async def hang() -> str:
    await asyncio.Event().wait()
    return ""


@server.tool()
def flood() -> str:
    sys.stderr.write("noise\n" * 1_000_000)
    return "done"


@server.tool()
def garbage() -> str:
    sys.stdout.write('this is no JSON\n{"jsonrpc": \n[1,2]\n\n')
    sys.stdout.flush()
    return "done"


@server.tool()
def huge(size: int) -> str:
    return "x" * size


@server.tool()
def picture() -> list[str | Image]:
    return ["a picture:", Image(data=b"123456", format="png")]


@server.tool(name="strange.name/with ünicode" + "x" * 60)
def strange() -> str:
    return "strange"


@server.tool()
async def grow(context: Context) -> str:
    """Has one tool more from now on."""

    def grown() -> str:
        return "grown"

    server.add_tool(grown, name="grown")
    await context.notify_tools_changed()
    return "ok"


def main() -> None:
    manner = os.environ.get("MANNER", "")
    if manner == "refuse":
        sys.stderr.write("I need a license.\n")
        sys.exit(4)
    if manner == "mute":
        time.sleep(1000)
    if manner == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", "1000"])
    if manner == "once" and Path("born").exists():
        sys.exit(5)
    Path("born").touch()
    if "http" in sys.argv:
        over_http()
    else:
        server.run("stdio")
    if manner == "stubborn":
        time.sleep(1000)


def over_http() -> None:
    """Says its port first."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201
    app = server.streamable_http_app(host="127.0.0.1")
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
