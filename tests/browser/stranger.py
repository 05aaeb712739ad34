"""A web page of somebody else on this machine, which tries what it can with the live page of who looks at it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_PAGE = """<!doctype html><title>stranger</title>
<iframe name="framed" src="{home}"></iframe>
<form method="post" enctype="text/plain" action="{home}api/messages">
<input name='{{"message": "@all by a form", "x": "' value='"}}'></form>
<img src="{home}api/messages?message=by+an+image">
"""


@asynccontextmanager
async def standing(home: str) -> AsyncGenerator[str]:
    """Its address: the same machine, which browsers take for the same site, and another port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = _PAGE.format(home=home).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
