"""A toolbox over MCP answers as one in process does, and says so when there is no answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.client import toolbox as connect
from moot.client.errors import ServerRefused, ServerUnreachable
from moot.core.json import Json
from moot.core.tool import Toolbox
from moot.mcp import server
from moot.mcp.server import Address, Endpoints
from moot.store.sqlite import SqliteStore
from tests.mcp.people import Meeting, Person

DEADLINE = 20.0


@pytest.fixture
def meeting(sqlite_store: SqliteStore) -> Meeting:
    return Meeting(sqlite_store)


@pytest.fixture
async def ann(anyio_backend: object, meeting: Meeting) -> Person:
    return await meeting.join("ann")


@pytest.fixture
async def address(anyio_backend: object, sqlite_store: SqliteStore, tmp_path: Path) -> AsyncIterator[Address]:
    async with server.serving(sqlite_store, Endpoints(tmp_path / "moot.sock")) as listening:
        yield listening


@pytest.mark.parametrize("over", ["socket", "url"])
async def test_it_calls_tools_over_the_socket_and_by_url(
    address: Address, meeting: Meeting, ann: Person, over: str
) -> None:
    where = address.socket if over == "socket" else address.url
    assert where is not None
    async with asyncio.timeout(DEADLINE), connect.toolbox(where, ann.token) as toolbox:
        as_any: Toolbox = toolbox
        sent = await as_any.call("channel_send", {"message": "hello"})
        assert (sent.text, sent.is_error) == ("sent", False)
        assert sent.structured["recipients"] == []
        refused = await as_any.call("channel_send", {"message": 5})
        assert refused.is_error
        assert refused.text.startswith("INVALID_INPUT")
        error = refused.structured["error"]
        assert isinstance(error, dict)
        assert error["code"] == "INVALID_INPUT"
    assert await meeting.said() == [("ann", "hello")]


async def test_a_deep_socket_is_reached(sqlite_store: SqliteStore, tmp_path: Path, ann: Person) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    async with (
        asyncio.timeout(DEADLINE),
        server.serving(sqlite_store, Endpoints(deep / "moot.sock", port=None)),
        connect.toolbox(deep / "moot.sock", ann.token) as toolbox,
    ):
        assert not (await toolbox.call("channel_read", {})).is_error


async def test_a_key_makes_a_repetition_harmless(address: Address, meeting: Meeting, ann: Person) -> None:
    assert address.socket is not None
    async with asyncio.timeout(DEADLINE), connect.toolbox(address.socket, ann.token) as toolbox:
        first = await toolbox.call("channel_send", {"message": "once"}, key="k")
        assert await toolbox.call("channel_send", {"message": "once"}, key="k") == first
    assert len(await meeting.said()) == 1


async def test_a_bad_token_is_refused_in_the_servers_words(address: Address) -> None:
    assert address.socket is not None
    with pytest.raises(ServerRefused, match="NOT_AUTHENTICATED"):
        async with asyncio.timeout(DEADLINE), connect.toolbox(address.socket, "nonsense"):
            pytest.fail("it connected")


async def test_a_token_revoked_on_the_way_is_refused_at_the_next_call(
    address: Address, meeting: Meeting, ann: Person
) -> None:
    assert address.socket is not None
    async with asyncio.timeout(DEADLINE), connect.toolbox(address.socket, ann.token) as toolbox:
        await toolbox.call("channel_read", {})
        await meeting.revoke(ann)
        with pytest.raises(ServerRefused, match="NOT_AUTHENTICATED"):
            await toolbox.call("channel_read", {})


async def test_no_server_is_said_to_be_none(tmp_path: Path) -> None:
    for where in (tmp_path / "nothing.sock", "http://127.0.0.1:9/mcp"):
        with pytest.raises(ServerUnreachable):
            async with asyncio.timeout(DEADLINE), connect.toolbox(where, "any"):
                pytest.fail("it connected")


async def test_it_outlives_a_restart_of_the_server(sqlite_store: SqliteStore, tmp_path: Path, ann: Person) -> None:
    path = tmp_path / "moot.sock"
    serving = server.serving(sqlite_store, Endpoints(path, port=None))
    await serving.__aenter__()
    async with asyncio.timeout(DEADLINE), connect.toolbox(path, ann.token) as toolbox:
        assert not (await toolbox.call("channel_send", {"message": "first"})).is_error
        await serving.__aexit__(None, None, None)
        with pytest.raises(ServerUnreachable):
            await toolbox.call("channel_send", {"message": "into the void"})
        async with server.serving(sqlite_store, Endpoints(path, port=None)):
            assert not (await toolbox.call("channel_send", {"message": "second"})).is_error
    assert [body for _, body in await Meeting(sqlite_store).said()] == ["first", "second"]


async def test_calls_at_the_same_time_are_told_their_own_troubles(
    sqlite_store: SqliteStore, tmp_path: Path, ann: Person
) -> None:
    path = tmp_path / "moot.sock"
    waiting: dict[str, Json] = {"wait_seconds": 50}
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        async with server.serving(sqlite_store, Endpoints(path, port=None)):
            opening = connect.toolbox(path, ann.token)
            toolbox = await opening.__aenter__()
            cut_off = group.create_task(_outcome(toolbox, "inbox_check", waiting))
            answered = await toolbox.call("channel_send", {"message": "quick"})
        assert not answered.is_error
        assert isinstance(await cut_off, ServerRefused | ServerUnreachable)
        await opening.__aexit__(None, None, None)


async def _outcome(toolbox: Toolbox, name: str, arguments: dict[str, Json]) -> object:
    try:
        return await toolbox.call(name, arguments)
    except (ServerRefused, ServerUnreachable) as error:
        return error


async def test_what_goes_wrong_in_the_block_comes_out_as_it_is(address: Address, ann: Person) -> None:
    assert address.socket is not None
    with pytest.raises(ZeroDivisionError):
        async with asyncio.timeout(DEADLINE), connect.toolbox(address.socket, ann.token):
            raise ZeroDivisionError
