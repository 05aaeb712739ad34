"""Input as lines, however it arrives."""

import asyncio

import pytest

from moot.mcp.relay import stdio
from moot.mcp.relay.stdio import TooLong


async def lines(*pieces: bytes, longest: int = 20) -> list[bytes | TooLong]:
    reader = asyncio.StreamReader()
    for piece in pieces:
        reader.feed_data(piece)
    reader.feed_eof()
    return [line async for line in stdio.lines(reader, longest)]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
async def test_lines_are_found_wherever_the_pieces_break(size: int) -> None:
    text = b"one\ntwo\r\n\n  \nthree"
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    found = [line.strip() for line in await lines(*pieces) if isinstance(line, bytes)]
    assert found == [b"one", b"two", b"three"]


async def test_a_line_at_the_limit_is_kept_and_one_past_it_is_not() -> None:
    assert await lines(b"x" * 20 + b"\n", b"y" * 21 + b"\n", b"z\n") == [b"x" * 20, TooLong(b"y" * 21, b"y" * 21), b"z"]


async def test_a_line_without_end_does_not_fill_the_memory() -> None:
    reader = asyncio.StreamReader()
    found: list[bytes | TooLong] = []

    async def collect() -> None:
        async for line in stdio.lines(reader, 1000):
            found.append(line)  # noqa: PERF401  # it is looked at before the end

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(collect())
        for _ in range(100):
            reader.feed_data(b"x" * 1000)
            await asyncio.sleep(0)
        reader.feed_data(b"\nafter\n")
        reader.feed_eof()
    assert found == [TooLong(b"x" * 1024, b"x" * 1024), b"after"]


async def test_an_endless_last_line_is_told_too() -> None:
    assert await lines(b"x" * 30) == [TooLong(b"x" * 30, b"x" * 30)]
    assert await lines(b"") == []


async def test_of_a_line_that_is_too_long_its_ends_are_told() -> None:
    pieces = (b"begin", *(b"x" * 1000 for _ in range(5)), b"end", b"\nnext\n")
    (first, following) = await lines(*pieces)
    assert isinstance(first, TooLong)
    assert (first.head[:5], len(first.head), first.tail[-3:], len(first.tail)) == (b"begin", 1024, b"end", 1024)
    assert following == b"next"
