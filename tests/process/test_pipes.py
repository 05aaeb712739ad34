import asyncio
import os
from typing import IO

import pytest

from moot.process import pipes
from moot.process.pipes import ReadPipe, WritePipe

MEBIBYTE = 1 << 20


def opened() -> tuple[IO[bytes], IO[bytes]]:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb", buffering=0), os.fdopen(writer, "wb", buffering=0)


class Taken:
    def __init__(self) -> None:
        self.data = b""
        self.ended = asyncio.Event()
        self.some = asyncio.Event()

    def take(self, chunk: bytes) -> None:
        self.data += chunk
        (self.some if chunk else self.ended).set()


async def test_a_mebibyte_goes_through_and_then_the_end() -> None:
    reader, writer = opened()
    taken = Taken()
    ReadPipe(reader, taken.take)
    sending = WritePipe(writer)
    sending.send(b"ab" * MEBIBYTE)
    sending.finish()
    assert not sending.is_open
    async with asyncio.timeout(10):
        assert await sending.sent()
        await taken.ended.wait()
    assert taken.data == b"ab" * MEBIBYTE
    assert reader.closed
    assert writer.closed


async def test_who_prints_without_end_is_read_with_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "_REST", 1000.0)
    reader, writer = opened()
    taken = Taken()
    reading = ReadPipe(reader, taken.take)
    sending = WritePipe(writer)
    sending.send(b"y" * MEBIBYTE)
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(taken.data) == MEBIBYTE // 4
    reading.pause()
    reading.resume()  # whoever takes has room: the rest is no shorter for it
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(taken.data) == MEBIBYTE // 4
    sending.close()
    reading.drain()  # what the dead have left waits for nobody
    assert taken.ended.is_set()
    reading.close()


async def test_nothing_is_read_while_paused() -> None:
    reader, writer = opened()
    taken = Taken()
    reading = ReadPipe(reader, taken.take)
    reading.pause()
    assert reading.is_paused
    writer.write(b"x")
    for _ in range(10):
        await asyncio.sleep(0)
    assert taken.data == b""
    reading.resume()
    async with asyncio.timeout(10):
        await taken.some.wait()
    assert taken.data == b"x"
    reading.close()
    assert not reading.is_paused
    writer.close()


async def test_draining_takes_what_is_there_and_does_not_wait_for_more() -> None:
    reader, writer = opened()
    taken = Taken()
    reading = ReadPipe(reader, taken.take)
    writer.write(b"x" * 60_000)
    reading.drain()
    assert taken.data == b"x" * 60_000
    assert not taken.ended.is_set()
    reading.close()
    writer.close()


async def test_draining_gives_up_on_one_who_never_stops_writing() -> None:
    reader, writer = opened()
    refills: list[int] = []

    def refill(chunk: bytes) -> None:
        refills.append(len(chunk))
        if len(refills) < 1000:
            writer.write(b"x" * 60_000)

    reading = ReadPipe(reader, refill)
    writer.write(b"x" * 60_000)
    reading.drain()
    assert len(refills) == 17
    reading.close()
    writer.close()


async def test_what_a_reader_who_left_did_not_take_was_not_sent() -> None:
    reader, writer = opened()
    sending = WritePipe(writer)
    sending.send(b"x" * MEBIBYTE)
    reader.close()
    async with asyncio.timeout(10):
        assert not await sending.sent()
    assert not sending.is_open


async def test_closing_forgets_what_is_unsent_and_lets_the_waiting_go() -> None:
    reader, writer = opened()
    sending = WritePipe(writer)
    sending.send(b"x" * MEBIBYTE)
    sending.close()
    sending.send(b"more")
    async with asyncio.timeout(10):
        assert not await sending.sent()
    assert writer.closed
    reader.close()
