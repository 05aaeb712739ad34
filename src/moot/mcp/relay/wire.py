"""As much HTTP as a relay needs: one request a connection, answered by JSON or by a stream of events.

Standard library only, as everything a relay imports: it starts in a fraction of the time that the MCP library takes.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from moot.core.records import record

LIMIT = 1 << 20  # of one line of a head, and of what is read ahead
_LONG = 1 << 16
_ACCEPT = "application/json, text/event-stream"


class Unanswered(Exception):
    """The connection ended before the answer did."""


@record
class Request:
    method: str
    headers: Mapping[str, str]
    body: bytes = b""
    path: str = "/mcp"

    @property
    def is_long(self) -> bool:
        return len(self.body) > _LONG

    def head(self) -> bytes:
        fixed = {
            "Host": "localhost",
            "Connection": "close",
            "Accept": _ACCEPT,
            "Content-Type": "application/json",
            "Content-Length": str(len(self.body)),
        }
        if self.is_long:
            fixed["Expect"] = "100-continue"
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**fixed, **self.headers}.items())
        return f"{self.method} {self.path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")


class Response:
    def __init__(self, reader: asyncio.StreamReader, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        self.headers = headers
        self._reader = reader

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    async def body(self) -> bytes:
        return b"".join([chunk async for chunk in self._chunks()])

    async def events(self) -> AsyncGenerator[bytes]:
        """The data of each event, as long as the stream lasts."""
        rest = b""
        data: list[bytes] = []
        async for chunk in self._chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                field, _, value = line.rstrip(b"\r").partition(b":")
                if field == b"data":
                    data.append(value.removeprefix(b" "))
                elif not field and not value and data:
                    yield b" ".join(data)
                    data = []

    async def _chunks(self) -> AsyncGenerator[bytes]:
        try:
            if self.headers.get("transfer-encoding", "").lower() == "chunked":
                while size := int((await self._reader.readline()).strip() or b"-1", 16):
                    if size < 0:
                        raise Unanswered
                    yield await self._reader.readexactly(size)
                    await self._reader.readexactly(2)
            else:
                yield await self._reader.readexactly(int(self.headers.get("content-length", "0")))
        except (OSError, ValueError, asyncio.IncompleteReadError) as error:
            raise Unanswered from error


@asynccontextmanager
async def sent(
    request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncGenerator[Response]:
    """The answer, while the connection lasts; it is closed in the end, which tells the server to stop working."""
    try:
        # A server that refuses a request hangs up on its body, and who still writes then loses the answer: so a long
        # body is sent only when it is asked for.
        writer.write(request.head() if request.is_long else request.head() + request.body)
        response = await _answer(reader)
        if response.status == 100:
            writer.write(request.body)
            response = await _answer(reader)
        yield response
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> Response:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        fields = (line.partition(":") for line in lines)
        return Response(reader, int(first.split()[1]), {name.lower(): value.strip() for name, _, value in fields})
    except (OSError, ValueError, IndexError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Unanswered from error
