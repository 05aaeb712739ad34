"""Answers requests that are known to be somebody's, with the sessions of the MCP library. Heavy to load."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp

from moot.core.caller import Caller
from moot.edge import answers, bodies
from moot.edge.gate import Headers
from moot.mcp import body, identity, patience, protocol
from moot.mcp.exchange import Exchange
from moot.mcp.notices import Notices
from moot.mcp.protocol import Protocol
from moot.mcp.sessions import Sessions
from moot.store.store import Store
from moot.tools.around import Around

_VERSION = b"mcp-protocol-version"
_HANDSHAKES = HANDSHAKE_PROTOCOL_VERSIONS
_SPOKEN = (*_HANDSHAKES, *MODERN_PROTOCOL_VERSIONS)


class Speaker:
    def __init__(self, store: Store, notices: Notices, sessions: Sessions, around: Around) -> None:
        self._protocol = Protocol(store, notices, sessions, around)
        self._is_quick = partial(protocol.is_quick, functions=around.functions.tools)
        self._manager = StreamableHTTPSessionManager(self._protocol.server, max_request_body_size=bodies.CAP)
        # Half the cost of the other: it watches for no disconnect and is ready for no stream. Where that may be needed,
        # `patience` sees to it.
        self._at_once = StreamableHTTPSessionManager(
            self._protocol.server, json_response=True, max_request_body_size=bodies.CAP
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Sessions live in here; leaving ends them all."""
        async with self._manager.run(), self._at_once.run():
            yield

    @property
    def asgi_app(self) -> ASGIApp:
        return self._manager.asgi_app

    def bind(self, exchange: Exchange, caller: Caller) -> None:
        """With this the library lets nobody but its owner use a session."""
        owner = AccessToken(token="", client_id=identity.owner_of(caller), scopes=[])
        exchange.scope["user"] = AuthenticatedUser(owner)

    async def answer(self, exchange: Exchange) -> None:
        await self._manager.handle_request(exchange.scope, exchange.receive, exchange.send)

    async def answer_post(
        self, exchange: Exchange, headers: Headers, message: Mapping[str, Any], content: bytes
    ) -> None:
        version = headers.get(_VERSION, _HANDSHAKES[0].encode()).decode("latin-1")
        if version not in _SPOKEN:
            await answers.send_json(exchange.send, 400, body.unsupported(message, version, _SPOKEN).answer())
            return
        is_stateless = version not in _HANDSHAKES
        receive = body.replay(content, exchange.receive)
        if is_stateless and self._is_quick(message):
            await self._at_once.handle_request(exchange.scope, receive, exchange.send)
        elif is_stateless and patience.takes_streams(headers):
            await patience.answer(exchange, receive, self._at_once.asgi_app)
        else:
            await self._manager.handle_request(exchange.scope, receive, exchange.send)

    def break_off(self) -> None:
        """Answer the calls that still wait: the server is going."""
        self._protocol.break_off()
