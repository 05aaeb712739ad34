"""HTTP as the relay speaks it, against servers that answer in pieces, late, or not at all."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.mcp.relay import wire
from moot.mcp.relay.wire import Request, Response, Unanswered

CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@asynccontextmanager
async def answered(tmp_path: Path, *pieces: bytes, request: Request | None = None) -> AsyncGenerator[Response]:
    """The response to one request, from a server that sends these pieces and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    async with asyncio.timeout(10), await asyncio.start_unix_server(serve, tmp_path / "s"):
        connection = await asyncio.open_unix_connection(tmp_path / "s")
        async with wire.sent(request or Request("GET", {}), *connection) as response:
            yield response


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def test_a_plain_body_is_read_by_its_length(tmp_path: Path) -> None:
    head = b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nX-Name:  value \r\n\r\n"
    async with answered(tmp_path, head, b"he", b"llo") as response:
        assert (response.status, response.headers["x-name"], response.is_stream) == (404, "value", False)
        assert await response.body() == b"hello"


async def test_events_are_found_wherever_the_pieces_break(tmp_path: Path) -> None:
    stream = b": ping\r\n\r\nevent: message\r\ndata: {1}\r\n\r\nid: 5\ndata:{2}\n\ndata: a\ndata: b\n\ndata: unfinished"
    for size in (1, 3, 7, len(stream)):
        pieces = [chunk(stream[start : start + size]) for start in range(0, len(stream), size)]
        async with answered(tmp_path, CHUNKED, *pieces, b"0\r\n\r\n") as response:
            assert response.is_stream
            assert [data async for data in response.events()] == [b"{1}", b"{2}", b"a b"]
        (tmp_path / "s").unlink()


CUT_SHORT = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nconte",
    "nonsense": b"hello\r\n\r\n",
    "half a body": b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
    "half a chunk": CHUNKED + b"a\r\nhalf",
    "no last chunk": CHUNKED + chunk(b"data: x\n\n"),
    "a bad chunk": CHUNKED + b"zz\r\n",
}


@pytest.mark.parametrize("name", CUT_SHORT)
async def test_an_answer_that_is_cut_short_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unanswered):
        async with answered(tmp_path, CUT_SHORT[name]) as response:
            await response.body()


async def test_a_long_body_is_sent_when_it_is_asked_for(tmp_path: Path) -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        seen.append(await reader.readexactly(100_000))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        writer.close()

    async with asyncio.timeout(10), await asyncio.start_unix_server(serve, tmp_path / "s"):
        connection = await asyncio.open_unix_connection(tmp_path / "s")
        async with wire.sent(Request("POST", {}, b"x" * 100_000), *connection) as response:
            assert await response.body() == b"ok"
    assert b"expect: 100-continue" in seen[0].lower()
    assert seen[1] == b"x" * 100_000


async def test_a_long_body_that_is_refused_does_not_hide_the_answer(tmp_path: Path) -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig"
    async with answered(tmp_path, refusal, request=Request("POST", {}, b"x" * (4 << 20))) as response:
        assert (response.status, await response.body()) == (413, b"big")
