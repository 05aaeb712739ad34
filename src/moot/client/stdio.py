"""Speaks with a server that was started as a program: a message a line. What it writes besides is passed over."""

import json
import logging
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from moot.process.child import Running
from moot.process.errors import StdinClosed

LONGEST = 8 << 20  # bytes of one message
_ID = re.compile(r'"id"\s*:\s*(\d+)')
_BEGINNING = re.compile(r'\{\s*"')
_MOST_BEGINNINGS = 10  # of what may be an answer, in one line
_HALVES = re.compile("[\ud800-\udfff]")  # of characters: nobody can pass them on
_ANSWERS = JSONRPCResponse | JSONRPCError
_log = logging.getLogger("moot.client")
_Sending = MemoryObjectSendStream[SessionMessage | Exception]


@asynccontextmanager
async def speaking(running: Running, lost: anyio.Event) -> AsyncGenerator[TransportStreams]:
    """`lost` is set when the program says nothing more."""
    heard, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, said = anyio.create_memory_object_stream[SessionMessage](0)
    pending: set[RequestId] = set()  # of what was asked, and not answered
    async with heard, reading, writing, said, anyio.create_task_group() as group:
        group.start_soon(_hear, running, heard, lost, pending)
        group.start_soon(_say, running, said, heard, pending)
        try:
            yield reading, writing
        finally:
            group.cancel_scope.cancel()


async def _hear(running: Running, heard: _Sending, lost: anyio.Event, pending: set[RequestId]) -> None:
    try:
        async for line in running.lines():
            message = _parsed(line, pending)
            if isinstance(message, _ANSWERS):
                pending.discard(cast(RequestId, message.id))
            if message is not None:
                await heard.send(SessionMessage(message))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    finally:
        lost.set()
        heard.close()


async def _say(
    running: Running, said: MemoryObjectReceiveStream[SessionMessage], heard: _Sending, pending: set[RequestId]
) -> None:
    try:
        async for one in said:
            match one.message:
                case JSONRPCRequest(id=id):
                    pending.add(id)
                case JSONRPCNotification(method="notifications/cancelled", params={"requestId": id}):
                    pending.discard(cast(RequestId, id))
                case _:
                    pass
            text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
            await running.write(text.encode() + b"\n")
    except StdinClosed:
        heard.close()  # nobody waits for an answer then


def _parsed(line: str, pending: set[RequestId]) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        found = _too_long(line, pending) if len(line) >= LONGEST else _mended(line)
        if found is None:
            _log.debug("a server wrote what is no message: %.200r", line)
        return found


def _too_long(line: str, pending: set[RequestId]) -> JSONRPCError | None:
    """Said at once to who waits for it, if that can be told: with the end of the line its id may be lost."""
    found = _ID.search(line[:200])
    id = int(found[1]) if found else next(iter(pending)) if len(pending) == 1 else None
    error = ErrorData(code=INTERNAL_ERROR, message=f"The answer is longer than {LONGEST:,} bytes")
    return None if id is None else JSONRPCError(jsonrpc="2.0", id=id, error=error)


def _mended(line: str) -> JSONRPCMessage | None:
    """An answer that is one but for halves of characters, or for what was printed before it without an end."""
    for beginning in islice(_BEGINNING.finditer(line), _MOST_BEGINNINGS):
        try:
            data, _ = json.JSONDecoder().raw_decode(line, beginning.start())
            if "jsonrpc" not in cast(Mapping[str, object], data):
                continue
            plain = _HALVES.sub("\N{REPLACEMENT CHARACTER}", json.dumps(data, ensure_ascii=False))
            found = jsonrpc_message_adapter.validate_json(plain, by_name=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, _ANSWERS):
            return found
    return None
