"""A connection to the HTTP server, bounded: in what a request holds besides its body, and in how long a client takes.

httptools reads heads of any size and uvicorn times only the pause between two requests; both are capped here. How
long an answer takes is the app's business: calls that wait and streams stay open.
"""

import asyncio
import resource
from dataclasses import field
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from moot.core import json
from moot.core.records import record
from moot.edge import refusals
from moot.edge.refusals import HeadTooLarge
from moot.mcp.deadline import Deadline

_PIECE = 1 << 14  # fed to the parser at a time: as exactly as this the size of a head is known


@record
class Limits:
    """What a client may take, in bytes and in seconds."""

    head_size: int = 64 << 10  # of trailers too
    idle: float = 75.0  # between two requests, and before the first
    head: float = 30.0
    body: float = 40.0  # longer than the app waits for one, since its refusal says more than hanging up
    stall: float = 75.0  # reading nothing of an answer
    connections: int = field(default_factory=lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)  # at once


class Connection(HttpToolsProtocol):
    limits = Limits()
    _held = 0  # bytes that came since the parser last handed something over
    _is_receiving = False
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn has it
        super().connection_made(transport)
        self._receiving = Deadline(self.loop, self._give_up_receiving)
        self._sending = Deadline(self.loop, self._give_up_sending)
        self._receiving.set(self.limits.idle)
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._receiving.end()
        self._sending.end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            piece = data[start : start + _PIECE]
            self._held += len(piece)
            super().data_received(piece)
            if self._held > self.limits.head_size:
                self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._held = 0
        self._is_receiving = True
        self._receiving.set(self.limits.head)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._receiving.set(self.limits.body)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._held = 0

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._held = 0
        self._is_receiving = False
        if self.cycle.response_complete:
            self._receiving.set(self.limits.idle)
        else:
            self._receiving.clear()

    def on_response_complete(self) -> None:
        is_next_waiting = bool(self.pipeline)
        super().on_response_complete()
        if not self._is_receiving and not is_next_waiting:
            self._receiving.set(self.limits.idle)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unsent = self.transport.get_write_buffer_size()
        self._sending.set(self.limits.stall)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._sending.clear()

    def _unsupported_upgrade_warning(self) -> None:
        """Nothing: WebSockets are not served here, so there is nothing to install. The request is answered as any."""

    @property
    def _is_idle(self) -> bool:
        return not self._is_receiving and (not self.cycle or self.cycle.response_complete)

    def _make_room(self) -> None:
        """Without descriptors the whole host would stand still: somebody has to go, best who asks for nothing."""
        others = (one for one in self.connections if isinstance(one, Connection) and one is not self)
        unneeded = next((one for one in others if one._is_idle and not one.transport.is_closing()), self)
        unneeded.transport.abort()

    def _refuse_head(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle and not self.cycle.response_complete:
            self.transport.abort()  # words would land in the middle of another answer
            return
        size = self.limits.head_size >> 10
        self.transport.write(_refusal(HeadTooLarge(f"The head is larger than {size} KiB.", "Send shorter headers.")))
        self.transport.close()

    def _give_up_receiving(self) -> None:
        is_our_turn = self.flow.read_paused or (self.cycle and self.cycle.waiting_for_100_continue)
        if is_our_turn or self.flow.write_paused:  # the client waits, or still has an answer to read
            self._receiving.set(self.limits.body)
        else:
            # Not `close`, which would wait for a client that does not read either.
            self.transport.abort()

    def _give_up_sending(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        if unsent < self._unsent:
            self._unsent = unsent
            self._sending.set(self.limits.stall)
        else:
            self.transport.abort()


def within(limits: Limits) -> type[Connection]:
    """The class for uvicorn, which makes connections itself and hands nothing on to them."""
    return type("LimitedConnection", (Connection,), {"limits": limits})


def _refusal(error: HeadTooLarge) -> bytes:
    content = json.dump_bytes({"error": refusals.facts_of(error)})
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + content
