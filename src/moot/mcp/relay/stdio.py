"""Standard input as capped lines, and standard output as a pipe that waits for its reader."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator
from typing import Protocol

from moot.core.records import record

LONGEST_LINE = 8 << 20
_CHUNK = 1 << 16
_END = 1 << 10  # bytes that are kept of each end of a line that is too long


class Output(Protocol):
    """Where lines go: an asyncio.StreamWriter is one."""

    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...


@record
class TooLong:
    """A line that is not kept. At one of its ends stands who waits for an answer to it."""

    head: bytes
    tail: bytes


async def lines(stdin: asyncio.StreamReader, longest: int = LONGEST_LINE) -> AsyncGenerator[bytes | TooLong]:
    """Each line that is not blank, until the end."""
    line = _Line(longest)
    while chunk := await stdin.read(_CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line.add(end)
            if found := line.take():
                yield found
        line.add(rest)
    if found := line.take():
        yield found


class _Line:
    """What has come of it so far; of one that is too long only its two ends."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = bytearray()
        self._head = b""

    def add(self, data: bytes) -> None:
        self._held += data
        if self._head or len(self._held) > self._longest:
            self._head = self._head or bytes(self._held[:_END])
            del self._held[:-_END]

    def take(self) -> bytes | TooLong | None:
        """What it has become; None if it is blank."""
        held, head = bytes(self._held), self._head
        self._held.clear()
        self._head = b""
        if head:
            return TooLong(head, held)
        return held if held.strip() else None


async def opened() -> tuple[asyncio.StreamReader, Output]:
    """This process's own."""
    return await _reader(sys.stdin.fileno()), await _writer(sys.stdout.fileno())


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=_CHUNK)
    if _is_at_hand(descriptor):
        reader.feed_data(await asyncio.to_thread(_whole, descriptor))
        reader.feed_eof()
        return reader
    pipe = os.fdopen(os.dup(descriptor), "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


def _is_at_hand(descriptor: int) -> bool:
    """A file, or /dev/null: the loop cannot wait for these, and need not."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))


def _whole(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


async def _writer(descriptor: int) -> Output:
    if _is_at_hand(descriptor):
        return _FileOutput(descriptor)
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(os.dup(descriptor), "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _FileOutput:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes, /) -> None:
        os.write(self._descriptor, data)

    async def drain(self) -> None:
        await asyncio.sleep(0)
