"""The MCP library is loaded when somebody who may speak first speaks, once, and a stop in the middle hurts nobody."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from moot.mcp import interpreter, server
from moot.mcp.server import Address, Endpoints, Options
from moot.store.sqlite import SqliteStore
from tests.mcp import clients
from tests.mcp.clients import DEADLINE
from tests.mcp.people import Meeting


@pytest.fixture
def store(sqlite_store: SqliteStore) -> SqliteStore:
    return sqlite_store


def test_a_host_starts_without_it() -> None:
    told = "import sys, moot.cli.run, moot.api.running, moot.app.hosting; print('mcp' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", told], text=True) == "False\n"


async def test_only_who_may_speak_has_it_loaded_and_only_once(
    address: Address, meeting: Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, loaded = await meeting.join("ann"), list[int]()
    load = interpreter.load

    def counting() -> object:
        loaded.append(1)
        return load()

    monkeypatch.setattr(interpreter, "load", counting)
    async with clients.http(address, "nobody's") as client:
        assert (await clients.ask(client, "tools/list")).status_code == 401
        assert (await client.get("/health")).status_code == 200
    assert loaded == []
    async with clients.http(address, ann.token) as client:
        answers = await asyncio.gather(*(clients.ask(client, "tools/list") for _ in range(5)))
    assert {answer.status_code for answer in answers} == {200}
    assert loaded == [1]


async def test_a_library_that_cannot_be_loaded_fails_the_request_and_not_the_server(
    address: Address, meeting: Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> NoReturn:
        raise ImportError

    monkeypatch.setattr(interpreter, "load", fail)
    async with clients.http(address, (await meeting.join("ann")).token) as client:
        for _ in range(2):
            answer = await clients.ask(client, "tools/list")
            assert (answer.status_code, answer.json()["error"]["code"]) == (500, "INTERNAL_ERROR")
        assert (await client.get("/health")).status_code == 200


async def test_who_waits_for_it_when_the_server_stops_is_told_so(
    store: SqliteStore, meeting: Meeting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, is_loading, may_end = await meeting.join("ann"), threading.Event(), threading.Event()
    load = interpreter.load

    def slowly() -> object:
        is_loading.set()
        may_end.wait(DEADLINE)
        return load()

    monkeypatch.setattr(interpreter, "load", slowly)

    async def ask(address: Address) -> tuple[int, str]:
        async with clients.http(address, ann.token) as client:
            answer = await clients.ask(client, "tools/list")
            return answer.status_code, answer.json()["error"]["code"]

    async with (
        asyncio.timeout(DEADLINE),
        asyncio.TaskGroup() as group,
        server.serving(store, Endpoints(tmp_path / "moot.sock"), Options(grace=0)) as address,
    ):
        asked = group.create_task(ask(address))
        await asyncio.to_thread(is_loading.wait)
        asyncio.get_running_loop().call_later(0.05, may_end.set)
    assert await asked == (503, "SERVER_STOPPING")
