"""The stream that a session of the handshake revisions opens with GET: the SDK's own, with our notices put in.

The SDK keeps the session and this stream alive and could send through it, but as the one who opened the session.
Here the listener is the one whose token opened the stream, and a reader that has stopped reading holds up nobody.
"""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Send

from moot.core import json
from moot.mcp import identity
from moot.mcp.exchange import Exchange
from moot.mcp.notices import Listener, Notice, Notices, Wants


async def serve(exchange: Exchange, app: ASGIApp, notices: Notices, wants: Callable[[], Wants]) -> None:
    """Let the app answer, and add notices until either is done. `wants` is asked once the session is known to exist."""
    caller, proof = identity.attached(exchange.scope), identity.proof(exchange.scope)
    is_open = asyncio.Event()

    async def send(message: Message) -> None:
        await exchange.send(message)
        if exchange.status == 200 and not is_open.is_set():
            listener.wants = wants()
            is_open.set()

    async with notices.listen(proof, caller.instance, Wants()) as listener, asyncio.TaskGroup() as group:
        answering = group.create_task(_answer(app, exchange, send))
        telling = group.create_task(_tell(listener, exchange, is_open))
        answering.add_done_callback(lambda _: telling.cancel())
        telling.add_done_callback(lambda _: answering.cancel())
    if exchange.status is not None and not exchange.is_over:
        await exchange.send({"type": "http.response.body", "body": b"", "more_body": False})


async def _answer(app: ASGIApp, exchange: Exchange, send: Send) -> None:
    await app(exchange.scope, exchange.receive, send)


async def _tell(listener: Listener, exchange: Exchange, is_open: asyncio.Event) -> None:
    await is_open.wait()
    async for notice in listener.notices():
        # One whole event a message, so that it never lands inside one of the SDK's.
        await exchange.send({"type": "http.response.body", "body": event_of(notice), "more_body": True})


def event_of(notice: Notice) -> bytes:
    message = {"jsonrpc": "2.0", "method": notice.method, "params": notice.params}
    return framed(json.dump_bytes(message))


def framed(message: bytes) -> bytes:
    """As an event; a message is in one line."""
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"
