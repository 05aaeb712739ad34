"""What a relay reads from a line, and the headers it writes for it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import inbound

from moot.mcp.relay import parcels
from tests.mcp import clients


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=50))
def test_header_values_mean_to_the_sdk_what_they_say(text: str) -> None:
    value = parcels.header_value(text)
    assert inbound.decode_header_value(value) == text
    assert value.isascii()
    assert "\n" not in value
    assert "\r" not in value


def test_a_stateless_message_repeats_itself_in_headers() -> None:
    message, headers = clients.stateless("tools/call", {"name": "channel_send", "arguments": {}})
    parcel = parcels.read(json.dumps(message).encode())
    assert parcel is not None
    assert parcel.headers() == headers


def test_a_message_of_a_session_needs_no_headers_of_its_own() -> None:
    parcel = parcels.read(json.dumps(clients.request("tools/call", {"name": "x"})).encode())
    assert parcel is not None
    assert (parcel.headers(), parcel.version, parcel.is_request) == ({}, None, True)


@pytest.mark.parametrize("version", [5, "", "a b\r\nX-Evil: 1", "ü", None, ["2026-07-28"]])
def test_a_version_that_no_header_can_hold_is_none(version: object) -> None:
    message = clients.request("x", {"_meta": {"io.modelcontextprotocol/protocolVersion": version}})
    parcel = parcels.read(json.dumps(message).encode())
    assert parcel is not None
    assert parcel.headers() == {}


@pytest.mark.parametrize("line", [b"[]", b"5", b"null", b'{"id":true,"method":5,"params":[]}', b'{"method":{}}'])
def test_odd_json_is_a_letter_without_anything(line: bytes) -> None:
    parcel = parcels.read(line)
    assert parcel is not None
    assert (parcel.method, parcel.id, parcel.params, parcel.is_request) == (None, None, {}, False)


def test_a_refusal_in_any_form_answers_the_request() -> None:
    own = parcels.refusal(7, 401, b'{"error":{"code":"NOT_AUTHENTICATED","message":"No.","remedy":"Do."}}')
    assert json.loads(own) == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": parcels.REFUSED, "message": "NOT_AUTHENTICATED: No. Do."},
    }
    rpc = parcels.refusal(7, 400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Bad."}}')
    assert json.loads(rpc) == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32600, "message": "Bad."}}
    for body in (b"", b"plain", b"[]", b'{"error":5}', b'"error"'):
        assert "status 500" in json.loads(parcels.refusal(7, 500, body))["error"]["message"]


def test_an_answer_is_told_from_what_else_comes() -> None:
    assert parcels.is_answer(b'{"id":1,"result":{}}', 1)
    assert parcels.is_answer(b'{"id":"1","error":{}}', "1")
    for other in (b'{"id":2,"result":{}}', b'{"id":1,"method":"ping"}', b'{"method":"x"}', b"noise", b"5"):
        assert not parcels.is_answer(other, 1)
    assert not parcels.is_answer(b'{"result":{}}', None)


def test_a_farewell_is_told_from_an_answer() -> None:
    assert parcels.is_farewell(b'{"id":1,"error":{"code":-32000,"message":"Connection closed"}}')
    for other in (b'{"id":1,"error":{"code":-32602}}', b'{"id":1,"result":{"text":"-32000"}}', b"", b"-32000"):
        assert not parcels.is_farewell(other)


WAYS = [  # how the libraries that clients are made with write a request
    ('{"method":"tools/call","params":{"text":"' + "y" * 5000, '"},"jsonrpc":"2.0","id":5}', 5),
    ('{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"text":"' + "y" * 5000, '"}}', 5),
    ('{"jsonrpc": "2.0", "method": "a\\"b", "id": "a-1", "params": {"text": "' + "y" * 5000, '"}}\r', "a-1"),
    ('{"method":"tools/call","params":{"text":"' + "y" * 5000, '"},"id":"five","jsonrpc":"2.0"}', "five"),
    ('{"method":"tools/call","params":{"text":"' + "y" * 5000, '","id":5}}', None),
    ('{"method":"tools/call","params":{"text":"' + "y" * 5000, ',\\"id\\":5}"}}', None),
    ('{"method":"notifications/message","jsonrpc":"2.0","params":{"text":"' + "y" * 5000, '"}}', None),
    ('{"jsonrpc":"2.0","id":5,"result":{"text":"' + "y" * 5000, '"}}', None),
    ('{"result":{"text":"' + "y" * 5000, '"},"jsonrpc":"2.0","id":5}', None),
    ('{"method":"tools/call","params":{"text":"' + "y" * 5000, '"},"id":true}', None),
    ("y" * 5000, "y", None),
]


@pytest.mark.parametrize(("head", "tail", "id"), WAYS)
def test_of_a_request_of_which_only_both_ends_are_known_it_is_told_whose_it_was(
    head: str, tail: str, id: str | int | None
) -> None:
    text = (head + tail).encode()
    assert parcels.id_at(text[:1024], text[-1024:]) == id
