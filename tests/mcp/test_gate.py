"""What a foreign web page, a rebound name or a careless client sends is refused before anything is looked at."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping

import httpx2
import pytest

from moot import __version__
from moot.edge import gate
from moot.edge.refusals import HostRefused, OriginRefused
from moot.mcp.server import Address
from moot.store.sqlite import SqliteStore
from tests.mcp import clients
from tests.mcp.people import Meeting


@pytest.fixture
def store(sqlite_store: SqliteStore) -> SqliteStore:
    """The edge of HTTP does not depend on the database."""
    return sqlite_store


async def sent(client: httpx2.AsyncClient, headers: Mapping[str, str]) -> httpx2.Response:
    message, repeated = clients.stateless("tools/call", {"name": "channel_send", "arguments": {"message": "in"}})
    return await client.post("/mcp", json=message, headers={**repeated, **headers})


@pytest.mark.parametrize("host", ["localhost", "localhost:80", "127.0.0.1:65535", "[::1]:9", "LocalHost:1", "[::1]"])
def test_local_names_are_answered_to(host: str) -> None:
    gate.check_place({b"host": host.encode()})


FOREIGN_HOSTS = [
    "",
    "evil.example",
    "localhost.evil.example",
    "localhost:80.evil.example",
    "localhost:",
    "127.0.0.1.evil.example",
    "127.0.0.2",
    "0.0.0.0",
    "::1",
    "localhost@evil.example",
    "localhost:123456",
    " localhost",
    "localhost\t",
    "192.168.0.1:80",
]


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_other_hosts_are_not_answered_to(host: str) -> None:
    with pytest.raises(HostRefused):
        gate.check_place({b"host": host.encode()})


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://localhost:3000", "https://127.0.0.1:1", "http://[::1]:5"]
)
def test_local_pages_are_let_in(origin: str) -> None:
    gate.check_place({b"host": b"localhost", b"origin": origin.encode()})


FOREIGN_ORIGINS = [
    "null",
    "",
    "http://evil.example",
    "https://localhost.evil.example",
    "http://localhost:3000.evil.example",
    "http://localhost@evil.example",
    "file://",
    "localhost",
    "http://localhost/",
    "chrome-extension://abc",
]


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_other_pages_are_not_let_in(origin: str) -> None:
    with pytest.raises(OriginRefused):
        gate.check_place({b"host": b"localhost", b"origin": origin.encode()})


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example"}, 421, "HOST_REFUSED"),
        ({"Origin": "https://evil.example"}, 403, "ORIGIN_REFUSED"),
        ({"Origin": "null"}, 403, "ORIGIN_REFUSED"),
        ({"Content-Type": "text/plain"}, 415, "CONTENT_TYPE_REFUSED"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415, "CONTENT_TYPE_REFUSED"),
        ({"Content-Type": "application/jsonp"}, 415, "CONTENT_TYPE_REFUSED"),
    ],
)
async def test_a_valid_token_does_not_open_the_gate(
    address: Address, meeting: Meeting, headers: dict[str, str], status: int, code: str
) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token, "tcp") as client:
        refused = await sent(client, headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
        assert (await sent(client, {})).status_code == 200
    assert await meeting.said() == [("ann", "in")]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE"])
async def test_other_methods_are_refused(address: Address, meeting: Meeting, method: str) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token) as client:
        assert (await client.request(method, "/mcp")).status_code == 405


async def test_get_changes_nothing(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    message, headers = clients.stateless("tools/call", {"name": "channel_send", "arguments": {"message": "in"}})
    async with clients.http(address, ann.token) as client:
        for extra in (headers, {}, {"X-HTTP-Method-Override": "POST"}):
            response = await client.request("GET", "/mcp", json=message, headers=extra)
            assert response.status_code in (400, 405)
    assert await meeting.said() == []


async def test_health_needs_no_token_and_says_little(address: Address) -> None:
    async with clients.http(address, None, "tcp") as client:
        response = await client.get("/health")
        assert response.json() == {"moot": __version__}
        assert (await client.post("/health", json={})).status_code == 404
        assert (await client.get("/health", headers={"Host": "evil.example"})).status_code == 421
        assert (await client.get("/")).json()["error"]["code"] == "NOT_FOUND"


async def test_a_body_past_the_cap_is_refused_whether_announced_or_not(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    _, headers = clients.stateless("tools/call")
    headers["Content-Type"] = "application/json"

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(80):
            yield b"x" * 65_536

    async with clients.http(address, ann.token) as client:
        announced = await client.post("/mcp", content=b" " * ((4 << 20) + 1), headers=headers)
        streamed = await client.post("/mcp", content=endless(), headers=headers)
        for refused in (announced, streamed):
            assert (refused.status_code, refused.json()["error"]["code"]) == (413, "BODY_TOO_LARGE")
        assert (await sent(client, {})).status_code == 200


async def test_who_sends_all_of_a_refused_body_before_it_listens_still_hears_why(
    address: Address, meeting: Meeting
) -> None:
    """Over TCP, where an end that hangs up on what it has not read takes its own last words back."""
    ann = await meeting.join("ann")
    place = httpx2.URL(str(address.url))
    size = 40 << 20
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {ann.token}\r\nContent-Length: {size}\r\n\r\n"
    )
    async with asyncio.timeout(clients.DEADLINE):
        reader, writer = await asyncio.open_connection(place.host, place.port)
        writer.write(head.encode())
        writer.write(b" " * size)
        await writer.drain()
        assert (await reader.readline()).split()[1] == b"413"
        writer.close()


async def test_a_client_that_never_finishes_its_request_holds_up_nobody(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(str(address.socket))
        slow.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + f"Authorization: Bearer {ann.token}\r\nContent-Length: 1000\r\n\r\n".encode()
            + b'{"jsonrpc"'
        )
        async with clients.http(address, ann.token) as client:
            assert (await sent(client, {})).status_code == 200
    assert await meeting.said() == [("ann", "in")]


async def test_what_is_not_http_is_answered_and_forgotten(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    for noise in (b"\x16\x03\x01\x02\x00" * 50, b"GET\r\n\r\n", b"\0" * 100, b"POST /mcp HTTP/9.9\r\n\r\n"):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(address.socket))
            stranger.sendall(noise)
    async with clients.http(address, ann.token) as client:
        assert (await sent(client, {})).status_code == 200
