"""No client holds more memory than a head may have, or a connection for longer than it is used."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from moot.mcp import connection, server
from moot.mcp.connection import Limits
from moot.mcp.server import Address, Endpoints, Options
from moot.store.sqlite import SqliteStore
from tests.mcp import clients
from tests.mcp.clients import DEADLINE, OldSession
from tests.mcp.people import Meeting
from tests.mcp.plain_page import PlainPage

SOON = 0.2
LONG = 3600.0
PATIENT = Limits(idle=LONG, head=LONG, body=LONG, stall=LONG)
HASTY = Limits(idle=SOON, head=SOON, body=SOON, stall=SOON)
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def store(sqlite_store: SqliteStore) -> SqliteStore:
    return sqlite_store


@asynccontextmanager
async def serving(store: SqliteStore, tmp_path: Path, limits: Limits) -> AsyncGenerator[Address]:
    options = Options(limits=limits, page=PlainPage("x" * (16 << 20)))
    async with asyncio.timeout(DEADLINE), server.serving(store, Endpoints(tmp_path / "s"), options) as address:
        yield address


class Raw:
    """A client that sends what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return int(head.split()[1]), await self._reader.readexactly(length)

    async def is_hung_up_on(self) -> bool:
        """Waits for it. A connection that is reset has ended as well."""
        try:
            return await self._reader.read() == b""
        except ConnectionError:
            return True

    async def trickle(self, piece: bytes) -> None:
        """A little at a time, until nobody takes it."""
        try:
            while not self._writer.is_closing():
                await self.send(piece)
                await asyncio.sleep(SOON / 10)
        except ConnectionError:
            return


@asynccontextmanager
async def connected(address: Address) -> AsyncGenerator[Raw]:
    assert address.socket is not None
    reader, writer = await asyncio.open_unix_connection(address.socket)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


@pytest.fixture
async def patient(anyio_backend: object, store: SqliteStore, tmp_path: Path) -> AsyncIterator[Address]:
    async with serving(store, tmp_path, PATIENT) as address:
        yield address


@pytest.fixture
async def hasty(anyio_backend: object, store: SqliteStore, tmp_path: Path) -> AsyncIterator[Address]:
    async with serving(store, tmp_path, HASTY) as address:
        yield address


HEADS = {
    "one header": (HEAD, b"X: ", b"x" * (200 << 10)),
    "many headers": (HEAD, b"X: y\r\n" * 30_000),
    "its path": (b"GET /", b"x" * (200 << 10)),
    "a name": (HEAD, b"x" * (200 << 10)),
}


@pytest.mark.parametrize("name", HEADS)
async def test_a_head_that_is_too_large_is_refused_before_it_ends(patient: Address, name: str) -> None:
    async with connected(patient) as client:
        await client.send(*HEADS[name])
        status, body = await client.answer()
        assert status == 431
        assert b"HEAD_TOO_LARGE" in body
        assert await client.is_hung_up_on()


async def test_a_head_without_an_end_is_not_taken_in(patient: Address) -> None:
    async with connected(patient) as client:
        with pytest.raises(ConnectionError):
            await client.send(HEAD, b"X: ", *[b"x" * (64 << 10)] * 512)


async def test_a_large_head_within_the_limit_is_read(patient: Address) -> None:
    async with connected(patient) as client:
        for _ in range(2):
            await client.send(HEAD, b"X: ", b"x" * (60 << 10), b"\r\nContent-Length: 0\r\n\r\n")
            assert (await client.answer())[0] == 401


async def test_a_websocket_is_answered_as_any_request_and_nobody_is_told_to_install_anything(
    patient: Address, caplog: pytest.LogCaptureFixture
) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
    async with connected(patient) as client:
        await client.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n", upgrade, b"\r\n")
        assert (await client.answer())[0] == 401
    assert caplog.records == []


async def test_a_body_does_not_count_as_head(patient: Address, store: SqliteStore) -> None:
    ann = await Meeting(store).join("ann")
    proof = b"Authorization: Bearer " + ann.token.encode() + b"\r\n"
    chunks = b"%x\r\n%s\r\n" % (10, b" " * 10) * 20_000
    async with connected(patient) as client:
        for _ in range(2):
            await client.send(HEAD, proof, b"Content-Length: 300000\r\n\r\n", b" " * 300_000)
            assert (await client.answer())[0] == 400
            await client.send(HEAD, proof, b"Transfer-Encoding: chunked\r\n\r\n", chunks, b"0\r\n\r\n")
            assert (await client.answer())[0] == 400


async def test_trailers_are_capped_as_heads_are(patient: Address, store: SqliteStore) -> None:
    ann = await Meeting(store).join("ann")
    proof = b"Authorization: Bearer " + ann.token.encode() + b"\r\n"
    async with connected(patient) as client:
        await client.send(HEAD, proof, b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ")
        with pytest.raises(ConnectionError):
            await client.send(*[b"x" * (64 << 10)] * 512)


async def test_a_head_that_never_ends_is_hung_up_on(hasty: Address) -> None:
    async with connected(hasty) as client, asyncio.TaskGroup() as group:
        await client.send(HEAD, b"X: ")
        group.create_task(client.trickle(b"x"))
        assert await client.is_hung_up_on()


async def test_a_second_head_that_never_ends_is_hung_up_on(hasty: Address) -> None:
    async with connected(hasty) as client, asyncio.TaskGroup() as group:
        await client.send(HEALTH)
        assert (await client.answer())[0] == 200
        await client.send(HEAD)
        group.create_task(client.trickle(b"x"))
        assert await client.is_hung_up_on()


async def test_a_body_that_never_ends_is_hung_up_on_though_it_was_answered(hasty: Address) -> None:
    async with connected(hasty) as client, asyncio.TaskGroup() as group:
        await client.send(HEAD, b"Content-Length: 1000000\r\n\r\n")
        assert (await client.answer())[0] == 401
        group.create_task(client.trickle(b"x"))
        assert await client.is_hung_up_on()


async def test_a_body_that_is_waited_for_is_given_up(hasty: Address, store: SqliteStore) -> None:
    ann = await Meeting(store).join("ann")
    async with connected(hasty) as client, asyncio.TaskGroup() as group:
        await client.send(HEAD, b"Authorization: Bearer ", ann.token.encode(), b"\r\nContent-Length: 1000000\r\n\r\n")
        group.create_task(client.trickle(b"x"))
        assert await client.is_hung_up_on()


@pytest.mark.parametrize("before", [b"", HEALTH])
async def test_an_idle_connection_is_hung_up_on(hasty: Address, before: bytes) -> None:
    async with connected(hasty) as client, asyncio.TaskGroup() as group:
        if before:
            await client.send(before)
            assert (await client.answer())[0] == 200
        group.create_task(client.trickle(b"\r\n"))  # which are no request
        assert await client.is_hung_up_on()


async def test_who_does_not_read_the_answer_is_hung_up_on(hasty: Address) -> None:
    async with connected(hasty) as client:  # which reads ahead no more than its buffer holds
        await client.send(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for _ in range(3):
            await for_a_while(hasty)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await client.answer()


class Slow(asyncio.Transport):
    """Sends a little each time somebody looks, and then nothing more."""

    def __init__(self) -> None:
        super().__init__()
        self.unsent = [100, 80, 60, 60]
        self.is_aborted = asyncio.Event()

    def get_write_buffer_size(self) -> int:
        return self.unsent.pop(0)

    def abort(self) -> None:
        self.is_aborted.set()


async def test_who_reads_slowly_is_hung_up_on_only_when_it_stops_reading() -> None:
    transport, config = Slow(), uvicorn.Config(PlainTextResponse("x"), log_config=None)
    limits = Limits(idle=LONG, stall=0.001)
    slow = connection.within(limits)(config, ServerState(), {}, asyncio.get_running_loop())
    slow.connection_made(transport)
    slow.pause_writing()
    async with asyncio.timeout(DEADLINE):
        await transport.is_aborted.wait()
    assert transport.unsent == []
    slow.connection_lost(OSError())


async def test_who_reads_a_long_answer_gets_it_all(hasty: Address) -> None:
    async with connected(hasty) as client:
        await client.send(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, body = await client.answer()
        assert (status, len(body)) == (200, 16 << 20)


async def test_streams_and_calls_that_wait_stay(hasty: Address, store: SqliteStore) -> None:
    meeting = Meeting(store)
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with clients.http(hasty, ann.token) as hers, clients.http(hasty, bob.token) as his:
        session = OldSession(hers, "2025-06-18")
        await session.open()
        async with session.listening() as heard, asyncio.TaskGroup() as group:
            waiting = group.create_task(clients.call(hers, "inbox_check", {"wait_seconds": 50}))
            for _ in range(3):
                await for_a_while(hasty)
            await clients.call(his, "channel_send", {"message": "still there, @ann?"})
            assert (await anext(heard))["method"] == "notifications/mention"
            assert (await waiting)["structuredContent"]["messages"]


async def for_a_while(address: Address) -> None:
    """As long as an idle connection lasts."""
    async with connected(address) as client:
        assert await client.is_hung_up_on()


async def test_when_all_places_are_taken_who_asks_for_nothing_has_to_go(store: SqliteStore, tmp_path: Path) -> None:
    async with (
        serving(store, tmp_path, Limits(idle=LONG, connections=3)) as address,
        connected(address) as first,
        connected(address) as second,
        connected(address) as third,
    ):
        for client in (first, second, third):
            await client.send(HEALTH)
            assert (await client.answer())[0] == 200
        await second.send(b"GET /hea")
        await third.send(b"GET /hea")
        async with connected(address) as fourth:
            assert await first.is_hung_up_on()
            await fourth.send(HEALTH)
            assert (await fourth.answer())[0] == 200
        for client in (second, third):
            await client.send(b"lth HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await client.answer())[0] == 200
