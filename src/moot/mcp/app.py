"""The ASGI app: `/mcp` for agents who prove who they are, `/health` for anyone, the rest for the page if any."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.version import VERSION
from moot.edge import answers, bodies, gate
from moot.edge.gate import Headers
from moot.edge.page import Page
from moot.edge.refusals import NotServed, RequestFailed, ServerStopping
from moot.mcp import body, identity, stream
from moot.mcp.body import Problem
from moot.mcp.exchange import Exchange
from moot.mcp.interpreter import Interpreter
from moot.mcp.notices import Notices
from moot.mcp.sessions import Sessions
from moot.store.store import Store
from moot.tools.around import Around

if TYPE_CHECKING:
    from moot.mcp.speaker import Speaker

PATH = "/mcp"
_SESSION = b"mcp-session-id"
_RESUME = b"last-event-id"

_log = logging.getLogger("moot.mcp")


class App:
    """Serves while `running()`; after `stop()` it turns everyone away."""

    def __init__(
        self,
        store: Store,
        *,
        trust_agent_header: bool = False,
        page: Page | None = None,
        met: Callable[[Caller], None] | None = None,
        around: Around | None = None,
    ) -> None:
        self._store = store
        self._met = met  # called for everybody who has proven who they are
        self._trusts_names = trust_agent_header
        self._page = page
        self._notices = Notices(store)
        self._sessions = Sessions()
        self._interpreter = Interpreter(store, self._notices, self._sessions, around or Around())
        self._answering: set[asyncio.Task[object]] = set()
        self._is_stopping = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Sessions and notices live in here; leaving ends them all."""
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
            if self._page is not None:
                await stack.enter_async_context(self._page.running())
            speaking = group.create_task(self._interpreter.run())
            telling = group.create_task(self._notices.run())
            try:
                yield
            finally:
                telling.cancel()
                self._interpreter.dismiss()
                await asyncio.wait([speaking])

    async def stop(self, grace: float) -> None:
        """Let nobody in any more, end the streams, and give calls that are being answered a moment."""
        self._is_stopping = True
        self._notices.close()
        if self._page is not None:
            self._page.close()
        await self._wait(grace)
        self._interpreter.break_off()
        await self._wait(grace)

    async def cut(self, grace: float) -> None:
        """Whatever is still being answered."""
        for task in self._answering:
            task.cancel()
        await self._wait(grace)

    async def _wait(self, seconds: float) -> None:
        if self._answering:
            await asyncio.wait(self._answering, timeout=seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send)
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        try:
            await self._answer(exchange)
        except MootError as error:
            await exchange.end(error)
        except asyncio.CancelledError:
            if not self._is_stopping:
                raise
            await exchange.end(_stopping())
        except Exception:  # noqa: BLE001  # the boundary of an HTTP request
            _log.exception("a request failed")
            await exchange.end(RequestFailed("The request failed inside moot.", "The host's log has the details."))
        finally:
            self._answering.discard(task)

    async def _answer(self, exchange: Exchange) -> None:
        if self._is_stopping:
            raise _stopping()
        headers = gate.headers_of(exchange.scope)
        gate.check_place(headers)
        path = exchange.scope["path"]
        if path == PATH:
            await self._answer_mcp(exchange, headers)
        elif path == "/health" and exchange.scope["method"] in ("GET", "HEAD"):
            await answers.send_json(exchange.send, 200, {"moot": VERSION})
        elif self._page is not None:
            await self._page(exchange.scope, exchange.receive, exchange.send)
        else:
            raise NotServed("There is nothing here.", f"MCP is at {PATH}.")

    async def _answer_mcp(self, exchange: Exchange, headers: Headers) -> None:
        scope, method = exchange.scope, exchange.scope["method"]
        gate.check_form(method, headers)
        caller = await self._identify(exchange, headers)
        speaker = await self._interpreter.speaker()
        speaker.bind(exchange, caller)
        session = headers.get(_SESSION, b"").decode("latin-1")
        if method == "POST":
            await self._answer_post(exchange, headers, speaker)
            return
        if method == "GET" and session:
            # Streams are not kept, so none can be resumed: it begins anew.
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name != _RESUME]
            wants = partial(self._sessions.wants, session)
            await stream.serve(exchange, speaker.asgi_app, self._notices, wants)
            return
        await speaker.answer(exchange)
        if method == "DELETE":
            self._sessions.forget(session)

    async def _answer_post(self, exchange: Exchange, headers: Headers, speaker: "Speaker") -> None:
        content = await bodies.read(exchange.receive, headers.get(b"content-length"))
        message = body.parse(content)
        if isinstance(message, Problem):
            await answers.send_json(exchange.send, 400, message.answer())
            return
        await speaker.answer_post(exchange, headers, message, content)

    async def _identify(self, exchange: Exchange, headers: Headers) -> Caller:
        proof = identity.proof_of(exchange.scope, headers, trusts_names=self._trusts_names)
        caller = await self._store.read(lambda tx: identity.caller_by(tx, proof))
        identity.attach(exchange.scope, proof, caller)
        if self._met is not None:
            self._met(caller)
        return caller


def _stopping() -> ServerStopping:
    return ServerStopping("The server is stopping.", "Try again in a moment.")
