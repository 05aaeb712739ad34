"""A body is one sound JSON-RPC message, or it is refused with the reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.edge import bodies
from moot.mcp import body
from moot.mcp.body import Problem
from tests.edge.chunks import chunks

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "channel_send"}}


def problem(message: object) -> tuple[int, str | int | None]:
    found = body.parse(message if isinstance(message, bytes) else json.dumps(message).encode())
    assert isinstance(found, Problem)
    return found.code, found.id


@pytest.mark.parametrize(
    "message",
    [
        CALL,
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {**CALL, "params": {"arguments": {"message": "\\u0000 is how NUL is written"}}},
        {**CALL, "params": {"arguments": {"until": 2**63 - 1, "text": "9" * 50}}},
    ],
)
def test_a_sound_message_passes(message: object) -> None:
    assert body.parse(json.dumps(message).encode()) == message


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        json.dumps(CALL).encode()[:-1],
        b"not json",
        b"\xff\xfe",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": ' + b"9" * 400 + b"}",
        b'{"a": "\\ud800"}',
        b'{"a": "\x00"}',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 500 + b"1" + b"}" * 500,
    ],
)
def test_what_is_not_json_is_a_parse_error(text: bytes) -> None:
    assert problem(text) == (body.PARSE_ERROR, None)


@pytest.mark.parametrize(
    ("message", "id"),
    [
        ([], None),
        ([CALL, CALL], None),
        ("text", None),
        (None, None),
        ({}, None),
        ({**CALL, "jsonrpc": "1.0"}, None),
        ({**CALL, "id": True}, None),
        ({**CALL, "id": 1.5}, None),
        ({**CALL, "id": None}, None),
        ({**CALL, "id": {"a": 1}}, None),
        ({**CALL, "method": 5}, 7),
        ({"jsonrpc": "2.0", "id": 7}, 7),
    ],
)
def test_what_is_no_message_is_an_invalid_request(message: object, id: int | None) -> None:
    assert problem(message) == (body.INVALID_REQUEST, id)


@pytest.mark.parametrize(
    "params",
    [
        [],
        "text",
        {"arguments": {"message": "a\0b"}},
        {"arguments": {"a\0b": 1}},
        {"deep": [[[{"x": ["\0"]}]]]},
        {"until": 2**63},
        {"until": -(2**63) - 1},
    ],
)
def test_values_that_no_database_holds_are_invalid(params: object) -> None:
    assert problem({**CALL, "params": params}) == (body.INVALID_PARAMS, 7)


@pytest.mark.parametrize(
    "text",
    [
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"message":"a","message":"b"}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{"b":{"c":1,"\\u0063":2}}]}}',
    ],
)
def test_a_key_that_appears_twice_is_refused(text: bytes) -> None:
    found = body.parse(text)
    assert isinstance(found, Problem)
    assert "twice" in found.message


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_any_bytes_get_a_verdict(noise: bytes) -> None:
    found = body.parse(noise)
    assert not isinstance(found, Problem) or json.loads(json.dumps(found.answer()))["error"]["code"] < 0


async def test_a_body_is_read_in_pieces_and_can_be_read_again() -> None:
    parts = [{"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.request", "body": b"c"}]
    receive = chunks([*parts, {"type": "http.disconnect"}])
    content = await bodies.read(receive, None)
    assert content == b"abc"
    again = body.replay(content, receive)
    assert await again() == {"type": "http.request", "body": b"abc", "more_body": False}
    assert await again() == {"type": "http.disconnect"}
