"""Speaks with a server that was started as a program: a message a line. What it writes besides is passed over."""

import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from moot.process.child import Running
from moot.process.errors import StdinClosed

LONGEST = 8 << 20  # bytes of one message
_ID = re.compile(r'"id"\s*:\s*(\d+)')
_log = logging.getLogger("moot.connect")
_Sending = MemoryObjectSendStream[SessionMessage | Exception]


@asynccontextmanager
async def speaking(running: Running, lost: anyio.Event) -> AsyncGenerator[TransportStreams]:
    """`lost` is set when the program says nothing more."""
    heard, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with heard, reading, writing, said, anyio.create_task_group() as group:
        group.start_soon(_hear, running, heard, lost)
        group.start_soon(_say, running, said, heard)
        try:
            yield reading, writing
        finally:
            group.cancel_scope.cancel()


async def _hear(running: Running, heard: _Sending, lost: anyio.Event) -> None:
    try:
        async for line in running.lines():
            message = _parsed(line)
            if message is not None:
                await heard.send(SessionMessage(message))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    finally:
        lost.set()
        heard.close()


async def _say(running: Running, said: MemoryObjectReceiveStream[SessionMessage], heard: _Sending) -> None:
    try:
        async for one in said:
            text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
            await running.write(text.encode() + b"\n")
    except StdinClosed:
        heard.close()  # nobody waits for an answer then


def _parsed(line: str) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        found = _ID.search(line[:200]) if len(line) >= LONGEST else None
        if found is None:
            _log.debug("a server wrote what is no message: %.200r", line)
            return None
        error = ErrorData(code=INTERNAL_ERROR, message=f"The answer is longer than {LONGEST:,} bytes")
        return JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error)
