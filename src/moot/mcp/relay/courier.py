"""Takes a relay's messages to whatever server there is, in a session that it opens again where it is not known."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field

from moot.core.keys import SPELLING_HEADER
from moot.core.records import record
from moot.mcp.relay import wire
from moot.mcp.relay.handshake import INITIALIZE, Handshake
from moot.mcp.relay.link import Link
from moot.mcp.relay.parcels import Parcel
from moot.mcp.relay.wire import Request, Response, Unanswered


@record
class Client:
    """For whom messages are carried: its token, and how it wants tools to be called, if it says so."""

    token: str = field(repr=False)
    spelling: str | None = None


class Courier:
    def __init__(self, link: Link, client: Client) -> None:
        self.link = link
        self.handshake = Handshake()
        wanted = {} if client.spelling is None else {SPELLING_HEADER: client.spelling}
        self._proof = {"Authorization": f"Bearer {client.token}", **wanted}
        self._renewing = asyncio.Lock()

    @asynccontextmanager
    async def post(self, parcel: Parcel, extra: Mapping[str, str]) -> AsyncGenerator[Response]:
        """Send one message, in the session unless it opens one or needs none."""
        is_free = parcel.version is not None or parcel.method == INITIALIZE
        headers = {} if is_free else self.handshake.headers()
        request = Request("POST", {**self._proof, **headers, **parcel.headers(), **extra}, parcel.line)
        async with wire.sent(request, *await self.link.connect()) as response:
            yield response

    @asynccontextmanager
    async def stream(self) -> AsyncGenerator[Response]:
        """What the server says of itself, in the session."""
        request = Request("GET", {**self._proof, **self.handshake.headers()})
        async with wire.sent(request, *await self.link.connect()) as response:
            yield response

    async def renew(self, stale: str) -> None:
        """Open the session again, unless somebody just has; Unanswered if that fails too."""
        async with self._renewing:
            opening = self.handshake.opening_again()
            if self.handshake.session != stale or opening is None:
                return
            async with self.post(opening, {}) as response:
                session = response.headers.get("mcp-session-id")
                await response.body()
            if session is None:
                raise Unanswered
            self.handshake.session = session
            for parcel in self.handshake.again():
                async with self.post(parcel, {}) as response:
                    await response.body()

    async def leave(self) -> None:
        """Tell the server that the session is over, if it is there to hear."""
        if self.handshake.session is None:
            return
        request = Request("DELETE", {**self._proof, **self.handshake.headers()})
        try:
            async with asyncio.timeout(0.5), wire.sent(request, *await self.link.open()) as response:
                await response.body()
        except (OSError, TimeoutError, Unanswered):
            return
