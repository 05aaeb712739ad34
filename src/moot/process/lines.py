"""Streamed lines: bytes in as they come, whole lines out as they are wanted, never a boundless backlog."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable

from moot.core.secrecy import Veil
from moot.process.capture import mark_of

_BACKLOG = 1 << 20  # bytes waiting to be taken before the writer is held back
_IN_A_ROW = 64  # lines taken before others have their turn, however many wait


class Lines:
    """An async iterator for one taker. `on_room` is called when a full backlog has been taken.

    Secrets are taken out of a line that is cut. In a whole one the taker does it: it may have to read it before.
    """

    def __init__(self, line_cap: int, on_room: Callable[[], None], veil: Veil | None = None) -> None:
        self._line_cap = line_cap
        self._veil = veil or Veil()
        self._on_room = on_room
        self._partial = bytearray()
        self._length = 0  # of the line under way, whatever is kept of it
        self._waiting: deque[bytes] = deque()  # blocks of whole lines, as they came
        self._split: deque[bytes] = deque()  # the lines of the block that is being taken
        self._in_a_row = 0
        self._size = 0
        self._is_dropped = False
        self._is_ended = False
        self._news = asyncio.Event()

    @property
    def is_full(self) -> bool:
        return self._size >= _BACKLOG

    def take(self, chunk: bytes) -> None:
        if self._is_dropped:
            return
        if self._length + len(chunk) <= self._line_cap:  # no line is cut, so they need not be looked at one by one
            chunk = self._take_whole(chunk)
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._extend(end)
            self._finish_line()
        self._extend(rest)

    def _take_whole(self, chunk: bytes) -> bytes:
        """Take the lines that end in it; gives what is behind them."""
        whole, newline, rest = chunk.rpartition(b"\n")
        if newline:
            self._add(bytes(self._partial) + whole)
            self._partial.clear()
            self._length = 0
        return rest

    def end(self) -> None:
        """No more will come; what has no newline yet is the last line."""
        if not self._is_ended and self._length:
            self._finish_line()
        self._is_ended = True
        self._news.set()

    def drop(self) -> None:
        """Forget what is waiting and all that comes: nobody will take it."""
        self._is_dropped = self._is_ended = True
        self._waiting.clear()
        self._split.clear()
        self._partial.clear()
        self._news.set()
        self._shrink(self._size)

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> str:
        self._in_a_row += 1
        if self._in_a_row >= _IN_A_ROW:
            self._in_a_row = 0
            await asyncio.sleep(0)
        if not await self._is_split():
            raise StopAsyncIteration
        line = self._split.popleft()
        self._shrink(len(line) + 1)
        return _text(line)

    async def together(self) -> list[str]:
        """As many lines as have come in one piece; none after the end."""
        if not await self._is_split():
            return []
        lines = list(self._split)
        self._split.clear()
        self._shrink(sum(map(len, lines)) + len(lines))
        return list(map(_text, lines))

    async def texts(self) -> AsyncGenerator[str]:
        """The same lines, each with its end, as many at once as have come together."""
        while (block := await self._block()) is not None:
            self._shrink(len(block) + 1)
            yield block.replace(b"\r\n", b"\n").removesuffix(b"\r").decode(errors="replace") + "\n"
            await asyncio.sleep(0)  # however much waits, others have their turn

    async def _is_split(self) -> bool:
        """Once there is a line to take; False after the end."""
        if not self._split and (block := await self._block()) is not None:
            self._split.extend(block.split(b"\n"))
        return bool(self._split)

    async def _block(self) -> bytes | None:
        """What waits longest; None after the end."""
        while not self._waiting and not self._is_ended:
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft() if self._waiting else None

    def _extend(self, piece: bytes) -> None:
        room = self._line_cap + self._veil.reach - len(self._partial)
        self._partial += piece[:room]
        self._length += len(piece)

    def _finish_line(self) -> None:
        line = bytes(self._partial)
        if self._length > self._line_cap:
            kept, _ = self._veil.clean(line, self._line_cap)
            line = kept + b" " + mark_of(self._length - self._line_cap)
        self._partial.clear()
        self._length = 0
        self._add(line)

    def _add(self, block: bytes) -> None:
        self._waiting.append(block)
        self._size += len(block) + 1  # an empty line takes room too
        self._news.set()

    def _shrink(self, size: int) -> None:
        was_full = self.is_full
        self._size -= size
        if was_full and not self.is_full:
            self._on_room()


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")
