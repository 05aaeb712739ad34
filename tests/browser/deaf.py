"""A line between browser and server on which event streams can go dead without anybody being told."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_PIECE = 65_536


class Line:
    """Connections to a port, by another."""

    def __init__(self, port: str) -> None:
        self.streams = 0  # of events, that were begun
        self._port = port
        self._dead: set[int] = set()

    def deaden(self) -> None:
        """Whatever the streams that are open now would tell is lost; they stay open."""
        self._dead = set(range(self.streams + 1))

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str]:
        """Its own port."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        async with server:
            yield str(server.sockets[0].getsockname()[1])

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", int(self._port))
        stream = [0]  # which one this connection carries, if it does
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._carry(reader, inner_writer, stream, is_request=True))
                group.create_task(self._carry(inner_reader, writer, stream, is_request=False))
        except* ConnectionError:
            pass  # either side may leave at any time
        finally:
            inner_writer.close()
            writer.close()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stream: list[int], *, is_request: bool
    ) -> None:
        while piece := await reader.read(_PIECE):
            if is_request and b"GET /api/events" in piece:
                self.streams += 1
                stream[0] = self.streams
            if is_request or stream[0] not in self._dead or stream[0] == 0:
                writer.write(piece)
                await writer.drain()
        writer.close()
