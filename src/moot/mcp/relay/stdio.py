"""Standard input as capped lines, and standard output as a pipe that waits for its reader."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator
from typing import Protocol

LONGEST_LINE = 8 << 20
_CHUNK = 1 << 16


class Output(Protocol):
    """Where lines go: an asyncio.StreamWriter is one."""

    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...


async def lines(stdin: asyncio.StreamReader, longest: int = LONGEST_LINE) -> AsyncGenerator[bytes | None]:
    """Each line that is not blank, until the end; None stands for one that was too long to keep."""
    held = bytearray()
    is_too_long = False
    while chunk := await stdin.read(_CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            held += end
            if is_too_long or len(held) > longest:
                yield None
            elif held.strip():
                yield bytes(held)
            held.clear()
            is_too_long = False
        held += rest
        if len(held) > longest:
            held.clear()
            is_too_long = True
    if is_too_long or held.strip():
        yield None if is_too_long else bytes(held)


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
