"""Carries MCP between standard input and output and the socket of a server, which may come and go.

Whatever was not answered is sent again: to a server that is back, or to one that takes over in this process. Calls of
tools travel under a key, by which a server recognises what has been done already. Standard library only.
"""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from moot.core.keys import KEY_HEADER
from moot.mcp.relay import parcels, stdio
from moot.mcp.relay.courier import Client, Courier
from moot.mcp.relay.handshake import INITIALIZE
from moot.mcp.relay.link import Link, NoServer, Patience, TakeOver
from moot.mcp.relay.parcels import Id, Parcel
from moot.mcp.relay.pulse import Pulse, ServerSilent
from moot.mcp.relay.stdio import Output, TooLong
from moot.mcp.relay.wire import Response, Unanswered

_STREAM = "subscriptions/listen"
_TRIES = 8  # of a request that one server after the other drops
_PAUSE = 0.02
_LONG_PAUSE = 0.5
_FAREWELL = 5.0  # for answers that are under way when the input ends; a server may be loading what it speaks with


async def relay(
    socket: Path,
    client: Client,
    stdin: asyncio.StreamReader,
    stdout: Output,
    *,
    take_over: TakeOver | None = None,
    patience: Patience | None = None,
) -> None:
    """Until the input ends. `take_over` starts a server in this process when there has been none for a moment."""
    chosen = patience or Patience()
    link = Link(socket, take_over, chosen)
    await _Relay(Courier(link, client), Pulse(link, chosen), stdout).run(stdin)


class _Relay:
    def __init__(self, courier: Courier, pulse: Pulse, stdout: Output) -> None:
        self._courier = courier
        self._pulse = pulse
        self._handshake = courier.handshake
        self._stdout = stdout
        self._waiting: dict[Id, tuple[Parcel, asyncio.Task[None]]] = {}
        self._keys = f"relay-{secrets.token_hex(12)}"
        self._count = 0

    async def run(self, stdin: asyncio.StreamReader) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                background = [group.create_task(work) for work in (self._watch(), self._listen(), self._pulse.run())]
                async for line in stdio.lines(stdin):
                    await self._take(line, group)
                await self._finish()
                for task in background:
                    task.cancel()
        except* (BrokenPipeError, ConnectionResetError):
            pass  # nobody reads the output any more

    async def _take(self, line: bytes | TooLong, group: asyncio.TaskGroup) -> None:
        if isinstance(line, TooLong):
            problem = f"A line is longer than {stdio.LONGEST_LINE} bytes. Send a file's path instead."
            await self._put(parcels.error(parcels.id_at(line.head, line.tail), parcels.PARSE_ERROR, problem))
            return
        parcel = parcels.read(line)
        if parcel is None:
            await self._put(parcels.error(None, parcels.PARSE_ERROR, "This is not JSON."))
            return
        if parcel.is_misnumbered:
            await self._put(parcels.error(None, parcels.INVALID_REQUEST, "The id of a request is a text or a number."))
            return
        if parcel.method == INITIALIZE:
            self._handshake.is_settled.clear()
        self._handshake.note(parcel)
        if parcel.method == "notifications/cancelled" and not self._cancels(parcel):
            return
        task = group.create_task(self._deliver(parcel))
        if parcel.is_request and parcel.id is not None:
            self._waiting[parcel.id] = (parcel, task)

    def _cancels(self, parcel: Parcel) -> bool:
        """Nobody waits for the answer any more; whether the server must be told, or hears it from the hanging up."""
        id: object = parcel.params.get("requestId")
        found = self._waiting.pop(id, None) if isinstance(id, str | int) else None
        if found is None:
            return parcel.version is None
        found[1].cancel()
        return found[0].version is None

    async def _deliver(self, parcel: Parcel) -> None:
        """Send until it is answered, or until there is no hope of that."""
        # What nobody waits for, and a stream, which says nothing for hours, outlast any silence.
        is_patient = not parcel.is_request or parcel.method == _STREAM
        try:
            async with nullcontext() if is_patient else self._pulse.felt():
                await self._send(parcel)
        except (NoServer, ServerSilent) as error:
            await self._refuse(parcel, f"{error.code}: {error}")
        finally:
            if parcel.method == INITIALIZE:
                self._handshake.is_settled.set()
            if parcel.id is not None and self._waiting.get(parcel.id, (None,))[0] is parcel:
                del self._waiting[parcel.id]

    async def _send(self, parcel: Parcel) -> None:
        extra = self._key(parcel)
        for attempt in range(_TRIES):
            if parcel.version is None and parcel.method != INITIALIZE:
                await self._handshake.is_settled.wait()
            if await self._is_answered(parcel, extra):
                return
            await asyncio.sleep(min(_PAUSE * 2**attempt, _LONG_PAUSE))
        await self._refuse(parcel, "One server after the other dropped this request. Their logs may say why.")

    async def _is_answered(self, parcel: Parcel, extra: Mapping[str, str]) -> bool:
        session = self._handshake.session
        try:
            async with self._courier.post(parcel, extra) as response:
                if response.status == 404 and session is not None and parcel.version is None:
                    await self._courier.renew(session)
                    return False
                return await self._pass_on(parcel, response)
        except Unanswered:
            return False

    async def _pass_on(self, parcel: Parcel, response: Response) -> bool:
        """Write what came back; False if that was no answer, for the server is going."""
        if response.status == 503:
            return False
        if not response.is_stream:
            body = await response.body()
            if response.status >= 400:
                await self._put_for(parcel, parcels.refusal(parcel.id, response.status, body))
            elif parcels.is_farewell(body):
                return False
            elif body:
                self._handshake.opened(parcel, response.headers, body)
                await self._put_for(parcel, body)
            return True
        async for data in response.events():
            is_answer = parcels.is_answer(data, parcel.id)
            if is_answer and parcels.is_farewell(data):
                return False
            if is_answer:
                self._handshake.opened(parcel, response.headers, data)
            await self._put(data)
            if is_answer:
                return True
        return False

    async def _listen(self) -> None:
        """Pass on what the server says unasked, for as long as there is a session."""
        while True:
            await self._handshake.is_open.wait()
            pause = _PAUSE
            try:
                session = self._handshake.session or ""
                async with self._courier.stream() as response:
                    if response.status == 404:
                        await self._courier.renew(session)
                    elif response.status == 409:
                        pause = _LONG_PAUSE  # the server has not noticed yet that the last one is gone
                    elif response.status not in (200, 503):
                        return
                    elif response.is_stream:
                        async for data in response.events():
                            await self._put(data)
            except (Unanswered, NoServer):
                pass
            await asyncio.sleep(pause)

    async def _watch(self) -> None:
        """Hold a connection that says nothing: it ends when the server does, and then there must be another."""
        while True:
            try:
                reader, writer = await self._courier.link.connect()
            except NoServer:
                continue
            try:
                await reader.read()
            except OSError:
                pass
            finally:
                writer.close()
            await asyncio.sleep(_PAUSE)

    async def _finish(self) -> None:
        """The client is done: what it still waits for gets a moment."""
        tasks = [task for _, task in self._waiting.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=_FAREWELL)
        for task in tasks:
            task.cancel()
        await self._courier.leave()

    def _key(self, parcel: Parcel) -> dict[str, str]:
        """In a header, so that what the client wrote stays as it is; a key of the client's own goes before it."""
        if parcel.method != "tools/call":
            return {}
        self._count += 1
        return {KEY_HEADER: f"{self._keys}-{self._count}"}

    async def _refuse(self, parcel: Parcel, message: str) -> None:
        await self._put_for(parcel, parcels.error(parcel.id, parcels.REFUSED, message))

    async def _put_for(self, parcel: Parcel, answer: bytes) -> None:
        """Only who asked gets an answer; who sent something that is no message at all gets one too."""
        if parcel.is_request or parcel.method is None:
            await self._put(answer)

    async def _put(self, line: bytes) -> None:
        self._stdout.write(line.replace(b"\n", b" ") + b"\n")
        await self._stdout.drain()
