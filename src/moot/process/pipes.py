"""Our ends of a child's pipes, served by the event loop without tasks: opening and closing never waits."""

import asyncio
import os
from collections.abc import Callable
from typing import IO

_CHUNK = 1 << 16
_AT_ONCE, _REST = 1 << 18, 0.01  # bytes, and the seconds after them: who prints without end leaves room for others
_MOST_LEFT = 1 << 20  # the most a pipe may hold without privileges


class ReadPipe:
    """Hands every chunk to `take` as it arrives; an empty one is the end."""

    def __init__(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._take = take
        self._is_paused = True
        self._since_rest = 0  # bytes
        self._rest: asyncio.TimerHandle | None = None
        os.set_blocking(pipe.fileno(), False)
        self.resume()

    @property
    def is_paused(self) -> bool:
        """Still open, but not being read."""
        return self._is_paused and not self._pipe.closed

    def pause(self) -> None:
        if not self._is_paused:
            self._is_paused = True
            self._loop.remove_reader(self._pipe.fileno())

    def resume(self) -> None:
        if self._is_paused and not self._pipe.closed:
            self._is_paused = False
            if self._rest is None:
                self._loop.add_reader(self._pipe.fileno(), self._read)

    def drain(self) -> None:
        """Take what the dead have left; bounded, because a process that escaped may still be writing."""
        for _ in range(_MOST_LEFT // _CHUNK + 1):
            self._read()

    def close(self) -> None:
        if not self._pipe.closed:
            self.pause()
            if self._rest is not None:
                self._rest.cancel()
            self._pipe.close()

    def _read(self) -> None:
        if self._pipe.closed:
            return
        try:
            chunk = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self.close()
        self._take(chunk)
        self._since_rest += len(chunk)
        if self._since_rest >= _AT_ONCE and self._rest is None and not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._rest = self._loop.call_later(_REST, self._go_on)

    def _go_on(self) -> None:
        self._rest, self._since_rest = None, 0
        if not self._is_paused:
            self._loop.add_reader(self._pipe.fileno(), self._read)


class WritePipe:
    """Sends what it is given as fast as the child reads; a child that stops reading closes it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._unsent = bytearray()
        self._is_last = False
        self._idle = asyncio.Event()
        self._idle.set()
        os.set_blocking(pipe.fileno(), False)

    @property
    def is_open(self) -> bool:
        return not (self._is_last or self._pipe.closed)

    def send(self, data: bytes) -> None:
        if data and self.is_open:
            self._unsent += data
            self._idle.clear()
            self._loop.add_writer(self._pipe.fileno(), self._write)

    async def sent(self) -> bool:
        """Wait until all is with the child; False when it went away before."""
        await self._idle.wait()
        return not self._unsent

    def finish(self) -> None:
        """Close as soon as everything is sent."""
        self._is_last = True
        if not self._unsent:
            self.close()

    def close(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()
            self._idle.set()

    def _write(self) -> None:
        try:
            count = os.write(self._pipe.fileno(), self._unsent[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.close()
            return
        del self._unsent[:count]
        if self._unsent:
            return
        self._loop.remove_writer(self._pipe.fileno())
        self._idle.set()
        if self._is_last:
            self.close()
