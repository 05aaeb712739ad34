"""Calls that may take long, most of which do not: an answer that is there soon comes plain, at the price of any other.

Who goes away is waited for no more, from the beginning: what it waits for may come the next moment, and is for whoever
asks again. And after a long silence the answer becomes a stream with a sign of life now and then, or somebody on the
way would take the connection for dead.
"""

import asyncio

from starlette.types import ASGIApp, Message, Receive

from moot.edge.gate import Headers
from moot.mcp import stream
from moot.mcp.exchange import Exchange

_SIGN = b": ping\r\n\r\n"
_HEAD = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform")]
SILENCE = 15.0  # seconds before a sign of life


class _Gone(Exception):
    """The client has hung up."""


def takes_streams(headers: Headers) -> bool:
    return b"text/event-stream" in headers.get(b"accept", b"")


async def answer(exchange: Exchange, receive: Receive, app: ASGIApp, silence: float = SILENCE) -> None:
    """Let the app answer, which does so in one piece; `receive` hands it the request."""
    patient = _Patient(exchange, silence)
    try:
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(_look_out(exchange))
            later = asyncio.get_running_loop().call_later(silence, patient.begin, group)
            try:
                await app(exchange.scope, receive, patient.send)
            finally:
                later.cancel()
                looking.cancel()
                patient.end()
    except* _Gone:
        pass


async def _look_out(exchange: Exchange) -> None:
    while (await exchange.receive())["type"] != "http.disconnect":
        pass
    raise _Gone


class _Patient:
    """An answer that may be waited for."""

    def __init__(self, exchange: Exchange, silence: float) -> None:
        self._exchange = exchange
        self._silence = silence
        self._living: asyncio.Task[None] | None = None
        self._is_stream = False
        self._writing = asyncio.Lock()  # signs of life do not come in the middle of anything

    def begin(self, group: asyncio.TaskGroup) -> None:
        if self._exchange.status is None:  # else its answer is on its way
            self._is_stream = True
            self._living = group.create_task(self._live())

    def end(self) -> None:
        if self._living is not None:
            self._living.cancel()

    async def send(self, message: Message) -> None:
        """What the app answers: as it is, or as an event where a stream has begun."""
        if not self._is_stream:
            await self._exchange.send(message)
            return
        if message["type"] == "http.response.body":
            await self._write({**message, "body": stream.framed(message["body"])})

    async def _live(self) -> None:
        while True:
            await self._write({"type": "http.response.body", "body": _SIGN, "more_body": True})
            await asyncio.sleep(self._silence)

    async def _write(self, message: Message) -> None:
        async with self._writing:
            if self._exchange.status is None:
                await self._exchange.send({"type": "http.response.start", "status": 200, "headers": _HEAD})
            if not self._exchange.is_over:
                await self._exchange.send(message)
