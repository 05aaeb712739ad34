"""Bad calls get a clear error, change nothing, and leave the server serving."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from moot.mcp.server import Address
from moot.store.sqlite import SqliteStore
from tests.mcp import clients
from tests.mcp.clients import OldSession
from tests.mcp.people import Meeting


@pytest.fixture
def store(sqlite_store: SqliteStore) -> SqliteStore:
    return sqlite_store


def send(arguments: object) -> dict[str, Any]:
    return {"name": "channel_send", "arguments": arguments}


RAW = {
    "truncated": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"channel_send","argum',
    "deep": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":' + b"[" * 90_000 + b"]" * 90_000 + b"}}",
    "batch": json.dumps([clients.request("tools/call", send({"message": "x"}))] * 3).encode(),
    "empty": b"",
    "surrogate": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"channel_send",'
    b'"arguments":{"message":"\\ud800"}}}',
    "nul": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"channel_send",'
    b'"arguments":{"message":"a\\u0000b"}}}',
    "twice": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"channel_send",'
    b'"arguments":{"message":"a","message":"b"}}}',
    "not utf-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
}


@pytest.mark.parametrize("name", RAW)
async def test_a_broken_message_is_answered_with_its_problem(address: Address, meeting: Meeting, name: str) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token) as client:
        session = OldSession(client, "2025-06-18")
        await session.open()
        _, modern = clients.stateless("tools/call", send({}))
        for headers in (modern, session.headers(), {}):
            response = await client.post(
                "/mcp", content=RAW[name], headers={**headers, "Content-Type": "application/json"}
            )
            assert response.status_code == 400
            error = response.json()["error"]
            assert error["code"] in (-32700, -32600, -32602)
            assert error["data"]["code"] == "INVALID_INPUT"
            assert "Traceback" not in response.text
        answer = await session.ask("tools/call", send({"message": "alive"}))
        assert "error" not in answer
    assert await meeting.said() == [("ann", "alive")]


ARGUMENTS: dict[str, tuple[str, Mapping[str, object]]] = {
    "limit below one": ("channel_read", {"limit": -1}),
    "limit true": ("channel_read", {"limit": True}),
    "limit as text": ("channel_read", {"limit": "50"}),
    "limit huge": ("channel_read", {"limit": 1e308}),
    "limit a fraction": ("channel_read", {"limit": 1.5}),
    "limit null": ("channel_read", {"limit": None}),
    "no message": ("channel_send", {}),
    "message a number": ("channel_send", {"message": 5}),
    "message a list": ("channel_send", {"message": ["a"]}),
    "unknown argument": ("channel_send", {"message": "x", "form": "y"}),
    "a prototype": ("channel_send", {"message": "x", "__proto__": {"a": 1}}),
    "a long list": ("channel_send", {"message": "x", "to": ["a"] * 500_000}),
    "a list of the wrong kind": ("channel_send", {"message": "x", "to": [1] * 20_000}),
    "a long unknown list": ("channel_send", {"message": "x", "numbers": [0] * 1_000_000}),
    "an unknown kind": ("channel_send", {"message": "x", "kind": "shout"}),
    "a wait too long": ("inbox_check", {"wait_seconds": 51}),
    "a wait in the past": ("inbox_check", {"wait_seconds": -1}),
    "neither id nor time": ("channel_read", {"since": "yesterday"}),
    "somebody else's message": ("inbox_ack", {"until": "ms_00000000000000000000"}),
    "blank": ("channel_send", {"message": " \n\t "}),
    "very long": ("channel_send", {"message": "x" * 1_000_001}),
}


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_a_bad_argument_is_refused_with_a_code(address: Address, meeting: Meeting, name: str) -> None:
    ann = await meeting.join("ann")
    tool, arguments = ARGUMENTS[name]
    async with clients.http(address, ann.token) as client:
        refused = await clients.call(client, tool, arguments)
        assert refused["isError"]
        error = refused["structuredContent"]["error"]
        assert error["code"] in ("INVALID_INPUT", "MESSAGE_EMPTY", "NOTHING_TO_ACKNOWLEDGE")
        assert error["message"]
        text = refused["content"][0]["text"]
        assert text.startswith(error["code"])
        assert len(text) < 2000
        assert "Traceback" not in text
        assert not (await clients.call(client, "channel_send", {"message": "alive"}))["isError"]
    assert await meeting.said() == [("ann", "alive")]


PARAMS: dict[str, Mapping[str, object]] = {
    "arguments a list": {"name": "channel_send", "arguments": [1]},
    "arguments a string": {"name": "channel_send", "arguments": "message"},
    "no name": {"arguments": {"message": "x"}},
    "name a number": {"name": 5, "arguments": {"message": "x"}},
    "meta a list": {"name": "channel_send", "arguments": {"message": "x"}, "_meta": []},
}


@pytest.mark.parametrize("name", PARAMS)
async def test_bad_params_are_refused(address: Address, meeting: Meeting, name: str) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token) as client:
        session = OldSession(client, "2025-06-18")
        await session.open()
        answer = await session.ask("tools/call", PARAMS[name])
        assert answer["error"]["code"] == -32602
        if name != "meta a list":
            response = await clients.ask(client, "tools/call", PARAMS[name])
            assert response.status_code == 400
            assert response.json()["error"]["code"] in (-32602, -32020)
    assert await meeting.said() == []


async def test_an_unknown_method_is_not_found(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token) as client:
        session = OldSession(client, "2025-06-18")
        await session.open()
        for method in ("tools/destroy", "initialized", "prompts/destroy", "__init__"):
            assert (await session.ask(method))["error"]["code"] == -32601
            assert (await clients.ask(client, method)).json()["error"]["code"] == -32601


async def test_a_session_that_nobody_opened_is_not_found(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token) as client:
        for session in ("0" * 32, "x", "../../etc", "a" * 5000):
            headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18"}
            response = await client.post("/mcp", json=clients.request("tools/list"), headers=headers)
            assert response.status_code == 404
            assert (await client.get("/mcp", headers=headers)).status_code == 404


async def test_headers_that_contradict_the_message_are_refused(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    message, headers = clients.stateless("tools/call", send({"message": "x"}))
    async with clients.http(address, ann.token) as client:
        for name in ("Mcp-Method", "Mcp-Name"):
            response = await client.post("/mcp", json=message, headers={**headers, name: "other"})
            assert response.status_code == 400
    assert await meeting.said() == []
