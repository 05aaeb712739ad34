"""The server: it listens on loopback, finds the wire of each request, asks the scenario, and answers or misbehaves."""

import asyncio
import inspect
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import orjson

from tests.fake_models.asked import Asked, Talk, Wire
from tests.fake_models.connection import Connection, Received
from tests.fake_models.replies import (
    Answer,
    Computed,
    Cut,
    Dropped,
    ErrorEvent,
    Hang,
    Malformed,
    Reply,
    Scenario,
    Status,
)
from tests.fake_models.wire import Event, WireProtocol
from tests.fake_models.wires import anthropic, chat, google, responses

_WIRES: dict[str, WireProtocol] = {"anthropic": anthropic, "responses": responses, "chat": chat, "google": google}
_NOBODY = Talk("", "", (), ())
_NOT_JSON = b'{"this is": not json'
_PATIENCE = 30.0  # seconds, after which a test that waits for something has failed


class FakeModels:
    """A running server. `asked` holds what it was asked, in order, without probes and counts of tokens."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.asked: list[Asked] = []
        self.others: list[Asked] = []  # probes, lists of models, counts of tokens
        self.surplus = 0  # requests for which a list of answers had none left
        self.problems: list[BaseException] = []  # of the scenario itself; raised when the server is closed
        self.port = 0
        self._server: asyncio.Server | None = None
        self._changed = asyncio.Condition()
        self._open = 0  # requests that are being answered
        self._connections: dict[asyncio.Task[None], Connection] = {}

    @property
    def url(self) -> str:
        """Without a path: what ANTHROPIC_BASE_URL wants. The OpenAI wires live under `/v1`: see `v1`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def v1(self) -> str:
        """The base URL for clients of the OpenAI wires."""
        return f"{self.url}/v1"

    async def until_asked(self, count: int = 1) -> Asked:
        """Wait until there were so many requests, and return the last of them."""
        await self._until(lambda: len(self.asked) >= count, f"{count} requests")
        return self.asked[count - 1]

    async def until_quiet(self) -> None:
        """Wait until no request is being answered: whoever was hanging has gone."""
        await self._until(lambda: self._open == 0, "an end of all requests")

    async def until_alone(self) -> None:
        """Wait until all connections are closed."""
        await self._until(lambda: not self._connections, "an end of all connections")

    async def _until(self, is_so: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(_PATIENCE), self._changed:
                await self._changed.wait_for(is_so)
        except TimeoutError:
            raise AssertionError(f"The fake server waited {_PATIENCE:g} s in vain for {what}.") from None

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port, limit=1 << 26)
        self.port = self._server.sockets[0].getsockname()[1]

    async def refuse(self) -> None:
        """Stop listening and break what is open: from now on connections are refused."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            for connection in self._connections.values():
                connection.drop()
            for task in list(self._connections):
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            await server.wait_closed()

    async def come_back(self) -> None:
        """Listen again, at the same address."""
        await self.start(self.port)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connection = self._connections[task] = Connection(reader, writer)
        try:
            while (received := await connection.receive()) is not None:
                await self._note(1)
                try:
                    await self._serve(received, connection)
                finally:
                    await self._note(-1)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, or the server is closed: a cancelled handler would be logged as an error
        except Exception as error:  # noqa: BLE001  # of this server, or of an answer it cannot write
            self.problems.append(error)
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()
            del self._connections[task]
            async with self._changed:
                self._changed.notify_all()

    async def _note(self, change: int) -> None:
        async with self._changed:
            self._open += change
            self._changed.notify_all()

    async def _serve(self, received: Received, connection: Connection) -> None:
        wire = _wire(received)
        asked = _read(received, wire)
        if wire in ("other", "count_tokens"):
            self.others.append(asked)
            await _serve_other(asked, connection)
            return
        self.asked.append(asked)
        async with self._changed:
            self._changed.notify_all()
        try:
            answer = await self._answer(asked)
        except Exception as error:  # noqa: BLE001  # a scenario is test code: what it raises fails the test, at close
            self.problems.append(error)
            answer = Status(500, f"the scenario failed: {error}")
        await _give(answer, asked, connection)

    async def _answer(self, asked: Asked) -> Answer:
        if callable(self.scenario):
            return await _computed(self.scenario, asked)
        number = len(self.asked) - 1
        if number >= len(self.scenario):
            self.surplus += 1
            return Status(500, "the scenario has no more answers")
        return await _computed(self.scenario[number], asked)


@asynccontextmanager
async def serve(scenario: Scenario) -> AsyncGenerator[FakeModels]:
    server = FakeModels(scenario)
    await server.start()
    try:
        yield server
    finally:
        await server.refuse()
    if server.problems:
        raise server.problems[0]


def nobody() -> str:
    """An address of this machine at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


async def _computed(given: Answer | Computed, asked: Asked) -> Answer:
    if not callable(given):
        return given
    answer = given(asked)
    return await answer if inspect.isawaitable(answer) else answer


def _wire(received: Received) -> Wire:
    path = received.path.rstrip("/")
    if received.method != "POST":
        return "other"
    if path.endswith("/messages/count_tokens"):
        return "count_tokens"
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return "google"
    return "other"


def _read(received: Received, wire: Wire) -> Asked:
    try:
        body: Any = orjson.loads(received.body or b"{}")
    except orjson.JSONDecodeError:
        body = {}
    known = cast(Mapping[str, Any], body if isinstance(body, dict) else {})
    talk = _WIRES[wire].read(known, received.path) if wire in _WIRES else _NOBODY
    return Asked(wire, received.method, received.path, received.query, received.headers, known, talk)


async def _serve_other(asked: Asked, connection: Connection) -> None:
    if asked.wire == "count_tokens":
        await connection.answer(200, {"input_tokens": len(orjson.dumps(dict(asked.body))) // 4})
    elif asked.method == "HEAD":
        await connection.answer_head(0)
    elif asked.method == "GET" and asked.path.rstrip("/").endswith("/models"):
        await connection.answer(200, {"object": "list", "data": [], "models": [], "has_more": False})
    elif asked.method == "GET" and asked.path == "/":
        await connection.answer(200, {})
    else:
        await connection.answer(404, anthropic.error(404, f"There is nothing at {asked.path}."))


async def _give(answer: Answer, asked: Asked, connection: Connection) -> None:
    wire = _WIRES[asked.wire]
    match answer:
        case Status():
            content = wire.error(answer.status, answer.message)
            await connection.answer(answer.status, content, answer.headers)
        case Reply() if not asked.is_stream:
            await connection.answer(200, wire.whole(answer, asked.talk), answer.headers)
        case Reply():
            events = wire.events(answer, asked.talk)
            await _stream(events, answer, connection)
            await connection.end_events()
        case Malformed() if not asked.is_stream:
            await connection.answer(200, _NOT_JSON)
        case Malformed():
            known = answer.reply or Reply(())
            await _begin(known, answer.after, asked, connection)
            # Clients pass over what has no name that they know.
            name = wire.events(known, asked.talk)[0].name
            await connection.event(_NOT_JSON, name)
            await connection.end_events()
        case Cut():
            await _begin(answer.reply, answer.after, asked, connection)
            if answer.is_marked:
                mark = wire.events(answer.reply, asked.talk)[-1]
                await connection.event(mark.data, mark.name)
            await connection.end_events()
        case Dropped():
            if asked.is_stream and answer.reply is not None:
                await _begin(answer.reply, answer.after, asked, connection)
            connection.drop()
        case Hang():
            if asked.is_stream and answer.reply is not None:
                await _begin(answer.reply, answer.after, asked, connection)
            await connection.until_gone()
        case ErrorEvent():
            await _begin(answer.reply, answer.after, asked, connection)
            event = wire.error_event(answer.message)
            await connection.event(event.data, event.name)
            await connection.end_events()


async def _begin(reply: Reply | None, count: int, asked: Asked, connection: Connection) -> None:
    """The first events of a reply that will not be finished."""
    known = reply or Reply(())
    await _stream(_WIRES[asked.wire].events(known, asked.talk)[:count], known, connection)


async def _stream(events: list[Event], reply: Reply, connection: Connection) -> None:
    await connection.begin_events(reply.headers)
    for event in events:
        await asyncio.sleep(reply.pause)
        await connection.event(event.data, event.name)
