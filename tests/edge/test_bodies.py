"""A body is read whole, within its bounds, and holds what a database can keep."""

import json

import pytest

from moot.edge import bodies
from moot.edge.bodies import Twice
from moot.edge.refusals import BodyTooLarge
from tests.edge.chunks import chunks


async def test_a_client_that_leaves_in_the_middle_has_sent_nothing() -> None:
    parts = [{"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.disconnect"}]
    assert await bodies.read(chunks(parts), b"5") == b""


async def test_reading_stops_at_the_cap() -> None:
    piece = {"type": "http.request", "body": b"x" * (1 << 20), "more_body": True}
    with pytest.raises(BodyTooLarge):
        await bodies.read(chunks([piece] * 5), None)
    with pytest.raises(BodyTooLarge):
        await bodies.read(chunks([]), str(bodies.CAP + 1).encode())


@pytest.mark.parametrize("body", [b"{", b"\xff", b'"\\ud800"', b"[" * 100_000, b"1e999", b"NaN", b""])
def test_what_is_not_sound_is_not_loaded(body: bytes) -> None:
    with pytest.raises((ValueError, TypeError, RecursionError)):
        bodies.load(body)


def test_a_key_that_appears_twice_is_named() -> None:
    with pytest.raises(Twice, match="a"):
        bodies.load(b'{"a": 1, "a": 2}')


@pytest.mark.parametrize("value", ["a\0b", {"a\0": 1}, ["x", {"y": "\0"}], 1 << 63, [-(1 << 63) - 1]])
def test_what_no_database_keeps_is_found_wherever_it_stands(value: object) -> None:
    body = json.dumps({"value": value}).encode()
    assert bodies.fault(bodies.load(body), body) is not None


@pytest.mark.parametrize("value", ["\\u0000", "1" * 30, (1 << 63) - 1, -(1 << 63), 0.1])
def test_what_only_looks_like_that_is_kept(value: object) -> None:
    body = json.dumps({"value": value}).encode()
    assert bodies.fault(bodies.load(body), body) is None
