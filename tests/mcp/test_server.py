"""A server starts where it is told, disturbs nobody's signals, and stops in bounded time whoever is connected."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest

from moot.core.caller import Caller
from moot.core.ids import StreamId
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal
from moot.mcp import server
from moot.mcp.app import App
from moot.mcp.server import Address, Endpoints, Options
from moot.mcp.sockets import ServerRunning
from moot.store.feed import Feed
from moot.store.sqlite import SqliteStore
from moot.store.store import Store
from tests.mcp import clients
from tests.mcp.clients import DEADLINE, OldSession
from tests.mcp.people import Meeting
from tests.mcp.plain_page import PlainPage

T = TypeVar("T")
WAITING = {"name": "inbox_check", "arguments": {"wait_seconds": 50}}


@pytest.fixture
def store(sqlite_store: SqliteStore) -> SqliteStore:
    return sqlite_store


async def test_it_tells_where_it_listens_and_serves_until_it_is_stopped(store: SqliteStore, tmp_path: Path) -> None:
    told: list[Address] = []
    stop, ready = asyncio.Event(), asyncio.Event()

    def hear(address: Address) -> None:
        told.append(address)
        ready.set()

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        group.create_task(server.serve(store, Endpoints(tmp_path / "moot.sock"), ready=hear, stop=stop))
        await ready.wait()
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
        (address,) = told
        assert address.socket == tmp_path / "moot.sock"
        async with httpx2.AsyncClient() as client:
            assert (await client.get(str(address.url).replace("/mcp", "/health"))).status_code == 200
        stop.set()
    assert not (tmp_path / "moot.sock").exists()
    async with httpx2.AsyncClient() as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get(str(address.url))


async def test_it_can_listen_on_one_of_the_two_only(store: SqliteStore, tmp_path: Path) -> None:
    async with server.serving(store, Endpoints(port=0)) as address:
        assert address.socket is None
        assert address.url is not None
    async with server.serving(store, Endpoints(tmp_path / "moot.sock", port=None)) as address:
        assert address.url is None
        async with clients.http(address, None) as client:
            assert (await client.get("/health")).status_code == 200


async def test_what_goes_wrong_in_the_block_comes_out_as_it_is(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with server.serving(store, Endpoints(tmp_path / "moot.sock")):
            raise ZeroDivisionError
    assert not (tmp_path / "moot.sock").exists()


async def test_it_stops_when_its_task_is_cancelled(store: SqliteStore, tmp_path: Path) -> None:
    ready = asyncio.Event()
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(store, Endpoints(tmp_path / "moot.sock"), ready=lambda _: ready.set()))
        await ready.wait()
        serving.cancel()
    assert serving.cancelled()
    assert not (tmp_path / "moot.sock").exists()


async def test_a_second_server_is_refused_and_the_first_goes_on(
    address: Address, meeting: Meeting, store: SqliteStore
) -> None:
    ann = await meeting.join("ann")
    with pytest.raises(ServerRunning):
        async with server.serving(store, Endpoints(address.socket)):
            pass
    async with clients.http(address, ann.token) as client:
        assert not (await clients.call(client, "channel_send", {"message": "still here"}))["isError"]


async def test_one_starts_where_another_has_stopped(store: SqliteStore, tmp_path: Path) -> None:
    for _ in range(3):
        async with (
            server.serving(store, Endpoints(tmp_path / "moot.sock")) as address,
            clients.http(address, None) as client,
        ):
            assert (await client.get("/health")).status_code == 200


class Counted:
    """A store that tells when so many wait for it."""

    def __init__(self, inner: Store, expected: int) -> None:
        self._inner = inner
        self._missing = expected
        self.are_waiting = asyncio.Event()
        self.has_left = asyncio.Event()

    async def write(self, change: Callable[[Tx], T], /, *, caller: Caller) -> T:
        return await self._inner.write(change, caller=caller)

    async def read(self, look: Callable[[ReadTx], T], /) -> T:
        return await self._inner.read(look)

    @contextmanager
    def listen(self) -> Generator[Signal]:
        self._missing -= 1
        if self._missing == 0:
            self.are_waiting.set()
        with self._inner.listen() as signal:
            try:
                yield signal
            finally:
                self.has_left.set()

    def feed(self, stream: StreamId | None = None) -> Feed:
        return self._inner.feed(stream)

    async def close(self) -> None:
        await self._inner.close()


async def test_it_stops_soon_though_clients_wait_and_listen(store: SqliteStore, tmp_path: Path) -> None:
    meeting = Meeting(store)
    people = [await meeting.join(f"agent{number}") for number in range(3)]
    counted = Counted(store, 7)  # two calls each, and one who reads notices for all streams
    answers: list[object] = []
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        async with server.serving(counted, Endpoints(tmp_path / "moot.sock")) as address:
            for person in people:
                group.create_task(_wait_and_listen(address, person.token, answers))
            await counted.are_waiting.wait()
            started = time.monotonic()
        stopped = time.monotonic() - started
    assert stopped < 3
    assert answers.count("stream ended") == 3
    assert len(answers) == 9


async def _wait_and_listen(address: Address, token: str, answers: list[object]) -> None:
    """Both revisions at once; every stream and every call must come to an end."""
    async with clients.http(address, token) as client:
        session = OldSession(client, "2025-06-18")
        await session.open()
        async with session.listening() as heard, asyncio.TaskGroup() as group:
            group.create_task(_drain(heard, answers))
            group.create_task(_note(session.client.post("/mcp", json=_old_wait(), headers=session.headers()), answers))
            message, headers = clients.stateless("tools/call", WAITING)
            group.create_task(_note(client.post("/mcp", json=message, headers=headers), answers))


def _old_wait() -> dict[str, Any]:
    return clients.request("tools/call", WAITING, 5)


async def _drain(heard: AsyncIterator[object], answers: list[object]) -> None:
    async for _ in heard:
        pass
    answers.append("stream ended")


async def _note(request: Any, answers: list[object]) -> None:
    try:
        response: httpx2.Response = await request
        answers.append(response.status_code)
        assert response.status_code in (200, 503)
        assert "error" in clients.data_of(response.text)
    except httpx2.TransportError as error:
        answers.append(error)


async def test_a_call_under_way_is_answered_before_it_stops(store: SqliteStore) -> None:
    meeting = Meeting(store)
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    counted = Counted(store, 1)
    app = App(counted)
    async with (
        asyncio.timeout(DEADLINE),
        app.running(),
        inside(app, bob.token) as his,
        inside(app, ann.token) as hers,
        asyncio.TaskGroup() as group,
    ):
        waiting = group.create_task(clients.call(his, "inbox_check", {"wait_seconds": 50}))
        await counted.are_waiting.wait()
        await clients.call(hers, "channel_send", {"message": "one more thing, @bob"})
        await app.stop(grace=DEADLINE)
    messages = waiting.result()["structuredContent"]["messages"]
    assert [one["entry"]["message"] for one in messages] == ["one more thing, @bob"]


def inside(app: App, token: str) -> httpx2.AsyncClient:
    """A client that needs no socket."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    transport = httpx2.ASGITransport(app=app)  # pyright: ignore[reportArgumentType]  # two spellings of ASGI
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)


async def test_a_server_that_is_stopping_turns_everyone_away(store: SqliteStore) -> None:
    app = App(store)
    async with app.running():
        await app.stop(grace=0)
        async with inside(app, "any") as client:
            for path in ("/mcp", "/health"):
                response = await client.get(path)
                assert response.status_code == 503
                assert response.json()["error"]["code"] == "SERVER_STOPPING"


async def test_who_hangs_up_is_not_waited_for(store: SqliteStore, tmp_path: Path) -> None:
    ann = await Meeting(store).join("ann")
    counted = Counted(store, 1)
    async with (
        asyncio.timeout(DEADLINE),
        server.serving(counted, Endpoints(tmp_path / "moot.sock")) as address,
        clients.http(address, ann.token) as client,
        asyncio.TaskGroup() as group,
    ):
        waiting = group.create_task(clients.call(client, "inbox_check", {"wait_seconds": 50}))
        await counted.are_waiting.wait()
        waiting.cancel()
        await counted.has_left.wait()


async def test_waiting_clients_hold_up_nobody(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with (
        asyncio.timeout(DEADLINE),
        clients.http(address, bob.token) as his,
        clients.http(address, ann.token) as hers,
        asyncio.TaskGroup() as group,
    ):
        waiting = group.create_task(clients.call(his, "inbox_check", {"wait_seconds": 50}))
        await clients.call(hers, "channel_send", {"message": "wake up @bob"})
        found = await waiting
    assert [one["entry"]["message"] for one in found["structuredContent"]["messages"]] == ["wake up @bob"]


async def test_other_paths_are_the_pages(store: SqliteStore, tmp_path: Path) -> None:
    options = Options(page=PlainPage("a page"))
    async with (
        server.serving(store, Endpoints(tmp_path / "moot.sock"), options) as address,
        clients.http(address, None) as client,
    ):
        assert (await client.get("/anything")).text == "a page"
        assert (await client.get("/mcp")).status_code == 401
        assert (await client.get("/anything", headers={"Host": "evil.example"})).status_code == 421
