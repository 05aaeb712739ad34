"""A collector of OpenTelemetry on loopback that takes only what has the names and forms of the protocol."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

SECONDS = 20.0
Check = Callable[[Any], bool]


def _hex(size: int) -> Check:
    return lambda value: isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{2 * size}}}", value) is not None


def _number(value: Any) -> bool:
    """64 bits are written as text."""
    return isinstance(value, str) and value.isdecimal()


def _any_value(value: Any) -> bool:
    forms: Mapping[str, Check] = {
        "stringValue": lambda one: isinstance(one, str),
        "boolValue": lambda one: isinstance(one, bool),
        "intValue": _number,
        "doubleValue": lambda one: isinstance(one, float),
        "arrayValue": lambda one: set(one) == {"values"} and all(map(_any_value, one["values"])),
    }
    ((name, found),) = value.items()
    return forms[name](found)


def _attributes(value: Any) -> bool:
    keys = [one["key"] for one in value]
    return len(set(keys)) == len(keys) and all(
        set(one) == {"key", "value"} and _any_value(one["value"]) for one in value
    )


# The names of opentelemetry/proto/trace/v1/trace.proto, as its JSON has them.
_SPAN: Mapping[str, Check] = {
    "traceId": _hex(16),
    "spanId": _hex(8),
    "parentSpanId": _hex(8),
    "name": lambda value: isinstance(value, str) and bool(value),
    "kind": lambda value: value in (1, 2, 3, 4, 5),
    "startTimeUnixNano": _number,
    "endTimeUnixNano": _number,
    "attributes": _attributes,
    "status": lambda value: value == {} or (set(value) <= {"code", "message"} and value["code"] in (0, 1, 2)),
}
_REQUIRED = set(_SPAN) - {"parentSpanId"}


@dataclass(frozen=True)
class Span:
    trace: str
    id: str
    parent: str | None
    name: str
    kind: int
    seconds: float
    is_error: bool
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class Received:
    path: str
    headers: Mapping[str, str]
    body: str
    service: str
    spans: tuple[Span, ...]


def read(path: str, headers: Mapping[str, str], body: str) -> Received:
    """As it came; an AssertionError if it is not in the form of the protocol."""
    whole = json.loads(body)
    assert set(whole) == {"resourceSpans"}
    (resource_spans,) = whole["resourceSpans"]
    assert set(resource_spans) == {"resource", "scopeSpans"}
    assert set(resource_spans["resource"]) == {"attributes"}
    assert _attributes(resource_spans["resource"]["attributes"])
    (scope_spans,) = resource_spans["scopeSpans"]
    assert set(scope_spans) == {"scope", "spans"}
    assert set(scope_spans["scope"]) == {"name", "version"}
    service = _plain(resource_spans["resource"]["attributes"])["service.name"]
    return Received(path, headers, body, service, tuple(_span(one) for one in scope_spans["spans"]))


def _span(one: Mapping[str, Any]) -> Span:
    assert set(one) - {"parentSpanId"} == _REQUIRED
    for name, value in one.items():
        assert _SPAN[name](value), (name, value)
    lasted = int(one["endTimeUnixNano"]) - int(one["startTimeUnixNano"])
    assert lasted >= 0
    is_error = one["status"].get("code") == 2
    facts = _plain(one["attributes"])
    parent = one.get("parentSpanId")
    return Span(one["traceId"], one["spanId"], parent, one["name"], one["kind"], lasted / 1e9, is_error, facts)


def _plain(attributes: list[Any]) -> dict[str, Any]:
    found = {one["key"]: one["value"] for one in attributes}
    return {
        key: int(value["intValue"]) if "intValue" in value else next(iter(value.values()))
        for key, value in found.items()
    }


@dataclass
class Collector:
    url: str = ""
    status: int = 200
    is_silent: bool = False  # it takes what comes and never answers
    received: "asyncio.Queue[Received]" = field(default_factory=asyncio.Queue[Received])
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def next(self) -> Received:
        async with asyncio.timeout(SECONDS):
            return await self.received.get()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except asyncio.IncompleteReadError:  # whoever was at the other side is gone
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = (await reader.readexactly(int(headers["content-length"]))).decode()
        self.asked.set()
        if self.is_silent:
            await reader.read()  # until the other side has had enough
        else:
            self.received.put_nowait(read(head[0].split()[1], headers, body))
            writer.write(f"HTTP/1.1 {self.status} x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}".encode())
            await writer.drain()
        writer.close()


@asynccontextmanager
async def collecting() -> AsyncGenerator[Collector]:
    collector = Collector()
    server = await asyncio.start_server(collector.answer, "127.0.0.1", 0)
    async with server:
        collector.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield collector
