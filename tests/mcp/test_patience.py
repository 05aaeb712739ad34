"""Calls that may take long: plain if they do not, watched when they do."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from moot.mcp import patience
from moot.mcp.exchange import Exchange

SECONDS = 10.0
HEAD: Message = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}
BODY: Message = {"type": "http.response.body", "body": b'{"id":1}'}


class Client:
    """Sends nothing more, hears the answer, and may hang up."""

    def __init__(self) -> None:
        self.heard: list[Message] = []
        self.has_heard = asyncio.Event()
        self.has_gone = asyncio.Event()
        self.is_watched = asyncio.Event()

    async def receive(self) -> Message:
        self.is_watched.set()
        await self.has_gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.heard.append(message)
        self.has_heard.set()

    async def ask(self, work: Callable[[], Awaitable[None]], silence: float = SECONDS) -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await work()
            await send(HEAD)
            await send(BODY)

        exchange = Exchange({"type": "http"}, self.receive, self.send)
        async with asyncio.timeout(SECONDS):
            await patience.answer(exchange, self.receive, app, silence)


async def test_an_answer_that_is_there_soon_comes_as_it_is() -> None:
    client = Client()

    async def work() -> None:
        await client.is_watched.wait()

    await client.ask(work)
    assert client.heard == [HEAD, BODY]


async def test_after_a_long_silence_signs_of_life_come_and_the_answer_as_an_event() -> None:
    client = Client()

    async def work() -> None:
        while len(client.heard) < 3:
            client.has_heard.clear()
            await client.has_heard.wait()

    await client.ask(work, 0.0)
    begun, *signs, end = client.heard
    assert begun["status"] == 200
    assert (b"content-type", b"text/event-stream") in begun["headers"]
    assert len(signs) >= 2
    assert all(one["body"] == b": ping\r\n\r\n" and one["more_body"] for one in signs)
    assert end["body"] == b'event: message\r\ndata: {"id":1}\r\n\r\n'
    assert not end.get("more_body")


async def test_who_goes_away_is_waited_for_no_more() -> None:
    client = Client()
    ended: list[str] = []

    async def work() -> None:
        client.has_gone.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    await client.ask(work)
    assert ended == ["cancelled"]
    assert client.heard == []


async def test_an_answer_that_is_cut_short_says_so() -> None:
    client = Client()

    async def work() -> None:
        await asyncio.Event().wait()

    asking = asyncio.ensure_future(client.ask(work))
    await client.is_watched.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.parametrize(
    ("accept", "takes"), [(b"application/json, text/event-stream", True), (b"application/json", False), (None, False)]
)
def test_only_who_takes_streams_may_get_one(accept: bytes | None, takes: bool) -> None:
    assert patience.takes_streams({} if accept is None else {b"accept": accept}) is takes
