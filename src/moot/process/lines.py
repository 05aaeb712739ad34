"""Streamed lines: bytes in as they come, whole lines out as they are wanted, never a boundless backlog."""

import asyncio
from collections import deque
from collections.abc import Callable

from moot.core.secrecy import Veil
from moot.process.capture import mark_of

_BACKLOG = 1 << 20  # bytes waiting to be taken before the writer is held back


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
        self._waiting: deque[bytes] = deque()
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
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._extend(end)
            self._finish_line()
        self._extend(rest)

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
        self._partial.clear()
        self._news.set()
        self._shrink(self._size)

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> str:
        while not self._waiting:
            if self._is_ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        line = self._waiting.popleft()
        self._shrink(len(line) + 1)
        return line.removesuffix(b"\r").decode(errors="replace")

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
        self._waiting.append(line)
        self._size += len(line) + 1  # an empty line takes room too
        self._news.set()

    def _shrink(self, size: int) -> None:
        was_full = self.is_full
        self._size -= size
        if was_full and not self.is_full:
            self._on_room()
