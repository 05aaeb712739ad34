import asyncio

import pytest

from moot.core.secrecy import Veil
from moot.process.lines import Lines

MEBIBYTE = 1 << 20


def nothing() -> None: ...


async def all_of(lines: Lines) -> list[str]:
    return [line async for line in lines]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
async def test_lines_do_not_depend_on_how_the_bytes_arrive(size: int) -> None:
    lines = Lines(100, nothing)
    stream = "eins\nzwölf\r\n\nlast".encode()
    for start in range(0, len(stream), size):
        lines.take(stream[start : start + size])
    lines.end()
    assert await all_of(lines) == ["eins", "zwölf", "", "last"]


async def test_a_newline_at_the_end_does_not_make_an_empty_line() -> None:
    lines = Lines(100, nothing)
    lines.take(b"one\n")
    lines.end()
    lines.end()
    assert await all_of(lines) == ["one"]


async def test_bytes_that_are_no_text_are_replaced() -> None:
    lines = Lines(100, nothing)
    lines.take(b"a\xff\n")
    lines.end()
    assert await all_of(lines) == ["a\ufffd"]


async def test_an_endless_line_is_cut_and_marked_and_the_next_is_whole() -> None:
    lines = Lines(5, nothing)
    lines.take(b"012345")
    lines.take(b"67890\nnext\n")
    lines.take(b"x" * 7)
    lines.end()
    assert await all_of(lines) == ["01234 [... 6 bytes cut ...]", "next", "xxxxx [... 2 bytes cut ...]"]


async def test_a_taker_waits_for_the_next_line() -> None:
    lines = Lines(100, nothing)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        taken = tasks.create_task(all_of(lines))
        tasks.create_task(feed_slowly(lines))
    assert taken.result() == ["one", "two"]


async def feed_slowly(lines: Lines) -> None:
    for piece in (b"on", b"e\ntw", b"o"):
        lines.take(piece)
        await asyncio.sleep(0)
    lines.end()


async def test_a_full_backlog_says_when_it_has_room_again() -> None:
    told: list[bool] = []
    lines = Lines(2 * MEBIBYTE, lambda: told.append(True))
    lines.take(b"x" * (MEBIBYTE // 2) + b"\n")
    assert not lines.is_full
    lines.take(b"x" * (MEBIBYTE // 2) + b"\n")
    assert lines.is_full
    await anext(lines)
    assert not lines.is_full
    await anext(lines)
    assert told == [True]


async def test_a_million_empty_lines_fill_the_backlog() -> None:
    lines = Lines(100, nothing)
    lines.take(b"\n" * MEBIBYTE)
    assert lines.is_full


async def test_dropped_lines_make_room_and_end_the_taking() -> None:
    told: list[bool] = []
    lines = Lines(2 * MEBIBYTE, lambda: told.append(True))
    lines.take(b"x" * MEBIBYTE + b"\npart")
    lines.drop()
    lines.take(b"y" * MEBIBYTE + b"\n")
    lines.end()
    assert not lines.is_full
    assert told == [True]
    assert await all_of(lines) == []


@pytest.mark.parametrize("before", [0, 3, 10, 18, 19])
async def test_nothing_of_a_secret_survives_where_a_line_is_cut(before: int) -> None:
    secret = "canary-0123456789"
    lines = Lines(20, nothing, Veil([secret]))
    line = "." * before + secret + "." * 30
    for byte in f"{line}\n{secret}\n".encode():
        lines.take(bytes((byte,)))
    lines.end()
    dots = "." * max(0, 20 - before - len(secret))
    cut = f"[... {len(line) - 20} bytes cut ...]"
    assert await all_of(lines) == [f"{'.' * before}[hidden]{dots} {cut}", secret]


async def test_lines_that_came_together_are_taken_as_one_text() -> None:
    lines = Lines(100, nothing)
    lines.take(b"one\r\n\ntw")
    lines.take(b"o\nthree\r")
    lines.end()
    assert [text async for text in lines.texts()] == ["one\n\n", "two\n", "three\n"]


async def test_texts_make_room_as_lines_do() -> None:
    told: list[bool] = []
    lines = Lines(2 * MEBIBYTE, lambda: told.append(True))
    lines.take(b"x\n" * (MEBIBYTE // 2))
    assert lines.is_full
    lines.end()
    assert sum([len(text) async for text in lines.texts()]) == MEBIBYTE
    assert told == [True]
    assert not lines.is_full


class Others:
    """Everybody else on the loop: counts their turns."""

    def __init__(self) -> None:
        self.turns = 0

    async def work(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)


@pytest.mark.parametrize("by_text", [False, True])
async def test_others_have_their_turns_however_many_lines_wait(by_text: bool) -> None:
    lines = Lines(100, nothing)
    for _ in range(100):
        lines.take(b"y\n" * 50)
    lines.end()
    others = Others()
    working = asyncio.ensure_future(others.work())
    taken = [one async for one in lines.texts()] if by_text else await all_of(lines)
    working.cancel()
    assert len(taken) == (100 if by_text else 5000)
    assert others.turns >= 70


async def test_lines_that_came_in_one_piece_can_be_taken_together() -> None:
    lines = Lines(100, nothing)
    lines.take(b"one\ntwo\r\nthr")
    assert await lines.together() == ["one", "two"]
    lines.take(b"ee\nfour\nfive\n")
    assert await anext(lines) == "three"
    assert await lines.together() == ["four", "five"]
    lines.end()
    assert await lines.together() == []


async def test_what_is_taken_together_makes_room() -> None:
    rooms: list[str] = []
    lines = Lines(MEBIBYTE, lambda: rooms.append("room"))
    lines.take(b"x" * (MEBIBYTE - 1) + b"\n")
    assert lines.is_full
    await lines.together()
    assert (lines.is_full, rooms) == (False, ["room"])
