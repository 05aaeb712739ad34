"""A relay carries every message to whatever server there is, each effect once, and hides that servers come and go."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import MootError
from moot.mcp import server
from moot.mcp.relay.link import Patience
from moot.mcp.server import Address, Endpoints
from moot.store.sqlite import SqliteStore
from tests.mcp import clients
from tests.mcp.clients import DEADLINE
from tests.mcp.console import Console, relaying
from tests.mcp.people import Meeting, Person

HASTY = Patience(gone=0.02)
SEND = {"name": "channel_send", "arguments": {"message": "stateless"}}
WAIT = {"name": "inbox_check", "arguments": {"wait_seconds": 50}}


@pytest.fixture
def store(sqlite_store: SqliteStore) -> SqliteStore:
    return sqlite_store


@pytest.fixture
async def ann(anyio_backend: object, meeting: Meeting) -> Person:
    return await meeting.join("ann")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "moot.sock"


@pytest.fixture
async def console(anyio_backend: object, address: Address, path: Path, ann: Person) -> AsyncGenerator[Console]:
    """A client of a relay whose server stays."""
    assert address.socket == path
    async with asyncio.timeout(DEADLINE * 3), relaying(path, ann.token) as opened:
        yield opened


async def test_both_revisions_are_carried(console: Console, meeting: Meeting) -> None:
    discovered = await console.ask_stateless("server/discover")
    assert discovered["result"]["supportedVersions"] == ["2026-07-28"]
    assert (await console.ask_stateless("tools/call", SEND))["result"]["isError"] is False
    assert (await console.open())["result"]["protocolVersion"] == "2025-06-18"
    assert (await console.send("by handshake", "an id"))["id"] == "an id"
    assert [body for _, body in await meeting.said()] == ["stateless", "by handshake"]


async def test_names_that_no_header_can_hold_are_carried(console: Console) -> None:
    for name in ("ünbekannt", " space", "=?base64?eA==?=", "a\nb", ""):
        answer = await console.ask_stateless("tools/call", {"name": name, "arguments": {}})
        assert answer["result"]["structuredContent"]["error"]["code"] == "TOOL_NOT_FOUND"


async def test_a_call_that_waits_holds_up_nobody(console: Console) -> None:
    await console.open()
    console.put(clients.request("tools/call", WAIT, "waiting"))
    assert (await console.send("hello", "quick"))["id"] == "quick"
    assert console.is_silent


async def test_requests_sent_before_the_opening_is_answered_wait_for_it(console: Console) -> None:
    params = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    console.put(clients.request("initialize", params, 1))
    console.put(clients.request("tools/list", {}, 2))
    answers = {(await console.get())["id"]: None for _ in range(2)}
    assert list(answers) == [1, 2]


async def test_noise_is_answered_and_the_next_message_served(console: Console, meeting: Meeting) -> None:
    for noise in (b"noise\n", b"{\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"\0\n"):
        console.put(noise)
        error = await console.get()
        assert (error["id"], error["error"]["code"]) == (None, -32700)
    for number in (b"5\n", b"[]\n", b"null\n", b'"x"\n', b"{}\n"):
        console.put(number)
        assert (await console.get())["error"]["code"] == -32600
    for id in (b'{"a":1}', b"[1]", b"true", b"1.5"):
        console.put(b'{"jsonrpc":"2.0","id":' + id + b',"method":"ping"}\n')
        assert (await console.get())["error"]["code"] == -32600
    console.put(b"\n\r\n  \n")
    await console.open()
    assert (await console.send("after the noise"))["result"]["isError"] is False
    assert len(await meeting.said()) == 1


async def test_what_the_client_wrote_reaches_the_server_as_it_is(console: Console, meeting: Meeting) -> None:
    await console.open()
    twice = b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"channel_send","arguments":'
    console.put(twice + b'{"message":"a","message":"b"}}}\n')
    answer = await console.get()
    assert answer["id"] == 9
    assert "twice" in answer["error"]["message"]
    assert await meeting.said() == []


async def test_long_lines_are_carried_and_longer_ones_refused(console: Console, meeting: Meeting) -> None:
    await console.open()
    padding = b" " * (3 << 20)
    console.put(b'{"jsonrpc":"2.0","id":1,' + padding + b'"method":"tools/list"}\n')
    assert "result" in await console.get()
    too_large = clients.request("tools/call", {"name": "channel_send", "arguments": {"message": "x" * (7 << 20)}}, 2)
    console.put(too_large)
    answer = await console.get()
    assert answer["id"] == 2
    assert "BODY_TOO_LARGE" in answer["error"]["message"]
    console.put(b"x" * (9 << 20) + b"\n")
    answer = await console.get()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    console.put(clients.request("tools/call", {"name": "channel_send", "arguments": {"message": "x" * (9 << 20)}}, 3))
    answer = await console.get()
    assert (answer["id"], answer["error"]["code"]) == (3, -32700)
    assert (await console.send("short"))["result"]["isError"] is False
    assert await meeting.said() == [("ann", "short")]


async def test_a_bad_token_is_told_to_the_client(address: Address, path: Path) -> None:
    async with asyncio.timeout(DEADLINE), relaying(path, "nonsense") as console:
        answer = await console.ask("initialize", {}, 1)
        assert answer["id"] == 1
        assert "NOT_AUTHENTICATED" in answer["error"]["message"]
        assert "NOT_AUTHENTICATED" in (await console.ask_stateless("tools/list"))["error"]["message"]


async def test_notices_are_carried(console: Console, meeting: Meeting, address: Address) -> None:
    bob = await meeting.join("bob")
    await console.open()
    await console.ask("resources/subscribe", {"uri": "moot://channel"})
    async with clients.http(address, bob.token) as client:
        while console.is_silent:  # its stream opens in its own time
            await clients.call(client, "channel_send", {"message": "hello @ann"})
        methods = {(await console.get())["method"] for _ in range(2)}
    assert methods == {"notifications/mention", "notifications/resources/updated"}


@pytest.mark.parametrize("era", ["stateless", "handshake"])
async def test_a_cancelled_call_is_given_up_and_not_answered(console: Console, meeting: Meeting, era: str) -> None:
    await console.open()
    message = clients.stateless("tools/call", WAIT)[0] if era == "stateless" else clients.request("tools/call", WAIT)
    console.put({**message, "id": "doomed"})
    assert "result" in await console.ask("tools/list", {}, 2)
    console.put({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "doomed"}})
    assert (await console.send("@ann wake up"))["id"] == 1
    assert "result" in await console.ask("tools/list", {}, 3)
    assert console.is_silent


@asynccontextmanager
async def serving(store: SqliteStore, path: Path) -> AsyncGenerator[None]:
    async with server.serving(store, Endpoints(path, port=None)):
        yield


async def test_a_session_goes_on_with_the_next_server(store: SqliteStore, path: Path, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with asyncio.timeout(DEADLINE * 3), relaying(path, ann.token) as console:
        async with serving(store, path):
            await console.open()
            await console.ask("resources/subscribe", {"uri": "moot://channel"})
            assert await is_refused(console, "first", 6) is False
        async with serving(store, path):
            assert await is_refused(console, "second", 7) is False
        heard: set[str] = set()
        async with server.serving(store, Endpoints(path)) as address, clients.http(address, bob.token) as client:
            assert await is_refused(console, "third", 8) is False
            while "notifications/mention" not in heard:
                if console.is_silent:
                    await clients.call(client, "channel_send", {"message": "hello @ann"})
                else:
                    heard.add((await console.get())["method"])
    assert "notifications/resources/updated" in heard
    assert [body for who, body in await meeting.said() if who == "ann"] == ["first", "second", "third"]


async def is_refused(console: Console, message: str, id: int) -> bool:
    """What became of it; notices may come before."""
    answer = await console.send(message, id)
    while answer.get("id") != id:
        answer = await console.get()
    refused: bool = answer["result"]["isError"]
    return refused


async def test_a_call_that_waits_goes_on_waiting_at_the_next_server(
    store: SqliteStore, path: Path, meeting: Meeting
) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with asyncio.timeout(DEADLINE * 3), relaying(path, ann.token) as console:
        async with serving(store, path):
            await console.open()
            console.put(clients.request("tools/call", WAIT, "old"))
            console.put({**clients.stateless("tools/call", WAIT)[0], "id": "new"})
            await console.send("both wait by now")
        async with server.serving(store, Endpoints(path)) as address, clients.http(address, bob.token) as client:
            await clients.call(client, "channel_send", {"message": "at last @ann"})
            answers = [await console.get() for _ in range(2)]
    assert {answer["id"] for answer in answers} == {"old", "new"}
    for answer in answers:
        assert "at last @ann" in answer["result"]["content"][0]["text"]


@dataclass(slots=True)
class Lossy:
    """Stands before a server, passes requests on, and loses the answers to the first of them."""

    behind: Path
    losses: int
    seen: list[bytes] = field(default_factory=list[bytes])
    methods: set[bytes] = field(default_factory=set[bytes])

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.methods.add(head.split(b" ")[0])
            length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
            whole = head + await reader.readexactly(int(length.split(b":")[1]))
            there_reader, there = await asyncio.open_unix_connection(self.behind)
            there.write(whole)
            answer = await there_reader.read()
            there.close()
            is_call = b"tools/call" in whole
            if is_call:
                self.seen.append(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"moot-key")))
            if not is_call or len(self.seen) > self.losses:
                writer.write(answer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            pass
        finally:
            writer.close()


@pytest.mark.parametrize("era", ["stateless", "handshake"])
async def test_a_call_whose_answer_was_lost_is_repeated_and_done_once(
    address: Address, path: Path, tmp_path: Path, ann: Person, meeting: Meeting, era: str
) -> None:
    lossy = Lossy(path, losses=3)
    async with (
        asyncio.timeout(DEADLINE * 3),
        await asyncio.start_unix_server(lossy.carry, tmp_path / "lossy.sock"),
        relaying(tmp_path / "lossy.sock", ann.token) as console,
    ):
        if era == "handshake":
            await console.open()
            answer = await console.send("once")
        else:
            answer = await console.ask_stateless("tools/call", SEND)
        assert answer["result"]["isError"] is False
        assert len(lossy.seen) == 4
        assert len(set(lossy.seen)) == 1
        await console.ask_stateless("tools/call", SEND)
        assert len(set(lossy.seen)) == 2
    assert len(await meeting.said()) == 2


async def test_leaving_ends_the_session(address: Address, path: Path, tmp_path: Path, ann: Person) -> None:
    lossy = Lossy(path, losses=0)
    async with asyncio.timeout(DEADLINE), await asyncio.start_unix_server(lossy.carry, tmp_path / "lossy.sock"):
        async with relaying(tmp_path / "lossy.sock", ann.token) as console:
            await console.open()
            await console.send("hello")
            assert b"DELETE" not in lossy.methods
        assert b"DELETE" in lossy.methods


async def test_a_request_that_every_server_drops_is_refused_in_the_end(
    address: Address, path: Path, tmp_path: Path, ann: Person
) -> None:
    lossy = Lossy(path, losses=1000)
    async with (
        asyncio.timeout(DEADLINE * 3),
        await asyncio.start_unix_server(lossy.carry, tmp_path / "lossy.sock"),
        relaying(tmp_path / "lossy.sock", ann.token) as console,
    ):
        answer = await console.ask_stateless("tools/call", SEND)
        assert "dropped" in answer["error"]["message"]
        assert "result" in await console.ask_stateless("tools/list")


async def test_with_no_server_and_nobody_to_take_over_the_client_is_told(path: Path) -> None:
    async with asyncio.timeout(DEADLINE), relaying(path, "any", patience=Patience(give_up=0.1)) as console:
        answer = await console.ask("initialize", {}, 3)
        assert answer["id"] == 3
        assert "NO_SERVER" in answer["error"]["message"]


@asynccontextmanager
async def stand_in(store: SqliteStore, path: Path, *failures: Exception) -> AsyncGenerator["StandIn"]:
    async with AsyncExitStack() as stack:
        yield StandIn(stack, store, path, failures)


class StandIn:
    """Serves when it is asked to take over."""

    def __init__(self, stack: AsyncExitStack, store: SqliteStore, path: Path, failures: tuple[Exception, ...]) -> None:
        self._stack = stack
        self._store = store
        self._path = path
        self._failures = failures
        self.calls = 0
        self.is_serving = asyncio.Event()

    async def take_over(self) -> None:
        self.calls += 1
        if self.calls <= len(self._failures):
            raise self._failures[self.calls - 1]
        await self._stack.enter_async_context(server.serving(self._store, Endpoints(self._path, port=None)))
        self.is_serving.set()


async def test_it_takes_over_when_there_is_no_server(
    store: SqliteStore, path: Path, ann: Person, meeting: Meeting
) -> None:
    async with (
        asyncio.timeout(DEADLINE * 3),
        stand_in(store, path) as standing_in,
        relaying(path, ann.token, take_over=standing_in.take_over, patience=HASTY) as console,
    ):
        await console.open()
        assert (await console.send("served by its own relay"))["result"]["isError"] is False
        assert standing_in.calls == 1
    assert len(await meeting.said()) == 1


@pytest.mark.parametrize("era", ["stateless", "handshake"])
async def test_it_takes_over_though_its_client_is_silent_and_goes_on(
    store: SqliteStore, path: Path, ann: Person, meeting: Meeting, era: str
) -> None:
    async with (
        asyncio.timeout(DEADLINE * 3),
        stand_in(store, path) as standing_in,
        relaying(path, ann.token, take_over=standing_in.take_over) as console,
    ):
        async with serving(store, path):
            if era == "handshake":
                await console.open()
            assert "result" in await say(console, era)
        assert standing_in.calls == 0
        async with asyncio.timeout(2):
            await standing_in.is_serving.wait()
        assert "result" in await say(console, era)
        assert standing_in.calls == 1
    assert len(await meeting.said()) == 2


async def say(console: Console, era: str) -> dict[str, Any]:
    return await (console.send("hello") if era == "handshake" else console.ask_stateless("tools/call", SEND))


async def test_it_tries_to_take_over_again_when_that_failed(
    store: SqliteStore, path: Path, ann: Person, meeting: Meeting
) -> None:
    async with (
        asyncio.timeout(DEADLINE * 3),
        stand_in(store, path, MootError("Not yet."), OSError("Nor now.")) as standing_in,
        relaying(path, ann.token, take_over=standing_in.take_over, patience=HASTY) as console,
    ):
        assert (await console.ask_stateless("tools/call", SEND))["result"]["isError"] is False
        assert standing_in.calls == 3


async def test_a_stateless_stream_is_opened_again_at_the_next_server(
    store: SqliteStore, path: Path, meeting: Meeting
) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with asyncio.timeout(DEADLINE * 3), relaying(path, ann.token) as console:
        async with serving(store, path):
            acknowledged = await console.ask_stateless("subscriptions/listen", {"notifications": {"mentions": True}})
            assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        # The server ended the stream in good order, so the client is told and listens again itself.
        assert (await console.get())["id"] == 1
        async with server.serving(store, Endpoints(path)) as address, clients.http(address, bob.token) as client:
            await console.ask_stateless("subscriptions/listen", {"notifications": {"mentions": True}})
            await clients.call(client, "channel_send", {"message": "hello @ann"})
            assert (await console.get())["method"] == "notifications/mention"
            console.put({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
