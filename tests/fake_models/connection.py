"""As much of HTTP/1.1 as clients of model APIs need, and the ways to break it that no server library offers."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import orjson


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    is_streaming: bool = field(default=False)

    async def receive(self) -> Received | None:
        """The next request; None when the client has gone."""
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.split("\r\n")
        method, target, _version = first.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        if headers.get("expect", "").lower() == "100-continue":
            await self._send(b"HTTP/1.1 100 Continue\r\n\r\n")
        path, _, query = target.partition("?")
        return Received(method, path, query, headers, await self._body(headers))

    async def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self.reader.readexactly(int(headers.get("content-length", "0")))
        body = b""
        while size := int((await self.reader.readline()).split(b";")[0], 16):
            body += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return body

    async def answer(self, status: int, content: object, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer; bytes go as they are, everything else as JSON."""
        body = content if isinstance(content, bytes) else orjson.dumps(content)
        said = {"content-type": "application/json", **(headers or {}), "content-length": str(len(body))}
        await self._send(_head(status, said) + body)

    async def answer_head(self, length: int) -> None:
        """To HEAD: what GET would have said."""
        await self._send(_head(200, {"content-type": "application/json", "content-length": str(length)}))

    async def begin_events(self, headers: Mapping[str, str] | None = None) -> None:
        said = {"content-type": "text/event-stream", "cache-control": "no-cache", **(headers or {})}
        await self._send(_head(200, {**said, "transfer-encoding": "chunked"}))
        self.is_streaming = True

    async def event(self, data: bytes, name: str | None = None) -> None:
        text = (b"event: " + name.encode() + b"\n" if name else b"") + b"data: " + data + b"\n\n"
        await self._send(f"{len(text):x}\r\n".encode() + text + b"\r\n")

    async def end_events(self) -> None:
        await self._send(b"0\r\n\r\n")
        self.is_streaming = False

    async def _send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def drop(self) -> None:
        """Break the connection in the middle, as a dying server does."""
        self.writer.transport.abort()

    async def until_gone(self) -> None:
        """Wait until the client hangs up."""
        while await self.reader.read(65536):
            pass


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:  # 529 is known to one provider only
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
