"""Who waits for an answer waits as long as the server lives, and is told when it gives no sign of life."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.mcp.relay.link import Link, Patience
from moot.mcp.relay.pulse import Pulse, ServerSilent
from tests.mcp.clients import DEADLINE
from tests.mcp.console import relaying

HASTY = Patience(beat=0.01, silence=0.05)
STEADY = Patience(beat=0.01, silence=DEADLINE)
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


class Stoppable:
    """Answers questions after its health while it goes on, and nothing else."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()
        self.heads: list[bytes] = []
        self.signs: asyncio.Queue[None] = asyncio.Queue()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.split(b"\r\n")[0])
            await self.goes_on.wait()
            if head.startswith(b"GET /health "):
                writer.write(OK)
                self.signs.put_nowait(None)
            else:
                await reader.read()
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # who watches says nothing, and the test may end first
        finally:
            writer.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s"


@asynccontextmanager
async def serving(path: Path) -> AsyncGenerator[Stoppable]:
    server = Stoppable()
    async with asyncio.timeout(DEADLINE), await asyncio.start_unix_server(server.answer, path):
        yield server


@asynccontextmanager
async def beating(path: Path, patience: Patience) -> AsyncGenerator[Pulse]:
    pulse = Pulse(Link(path, None, patience), patience)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(pulse.run())
        yield pulse
        running.cancel()


async def test_a_living_server_may_take_its_time(path: Path) -> None:
    async with serving(path) as server, beating(path, STEADY) as pulse:
        server.goes_on.set()
        async with pulse.felt():
            for _ in range(5):
                await server.signs.get()


async def test_who_waits_for_a_silent_server_is_told(path: Path) -> None:
    async with serving(path), beating(path, HASTY) as pulse:
        with pytest.raises(ServerSilent, match="sign of life"):
            async with pulse.felt():
                await asyncio.Event().wait()


async def test_a_silent_server_is_asked_once_until_it_goes_on(path: Path) -> None:
    async with serving(path) as server, beating(path, HASTY) as pulse:
        for _ in range(3):
            with pytest.raises(ServerSilent):
                async with pulse.felt():
                    await asyncio.Event().wait()
        assert server.heads == [b"GET /health HTTP/1.1"]
        server.goes_on.set()
        await server.signs.get()
        while not await is_well(pulse):
            continue
        async with pulse.felt():
            await server.signs.get()


async def is_well(pulse: Pulse) -> bool:
    try:
        async with pulse.felt():
            return True
    except ServerSilent:
        return False


async def test_a_server_that_is_gone_is_not_silent(path: Path, tmp_path: Path) -> None:
    async with beating(tmp_path / "nobody", HASTY) as pulse, pulse.felt():
        for _ in range(2):
            await a_silence(path)


async def a_silence(path: Path) -> None:
    """As long as it takes to find a server silent."""
    path.unlink(missing_ok=True)
    async with serving(path), beating(path, HASTY) as pulse:
        with pytest.raises(ServerSilent):
            async with pulse.felt():
                await asyncio.Event().wait()


async def test_nobody_is_asked_while_nobody_waits(path: Path, tmp_path: Path) -> None:
    async with serving(path) as server, beating(path, STEADY) as pulse:
        server.goes_on.set()
        async with pulse.felt():
            await server.signs.get()
        asked = len(server.heads)
        await a_silence(tmp_path / "other")  # ten beats
        assert len(server.heads) - asked <= 1  # one may have been on its way


async def test_a_failure_of_who_waits_stays_what_it_is(path: Path) -> None:
    async with beating(path, STEADY) as pulse:
        with pytest.raises(TimeoutError, match="its own"):
            async with pulse.felt():
                raise TimeoutError("its own")


async def test_a_relay_refuses_what_a_silent_server_does_not_answer(path: Path) -> None:
    async with serving(path) as server, relaying(path, "any", patience=HASTY) as console:
        first = await console.ask_stateless("tools/list")
        assert first["id"] == 1
        assert "SERVER_SILENT" in first["error"]["message"]
        assert "kill -CONT" in first["error"]["message"]
        await console.ask_stateless("tools/list")
        # The second was not even sent: it could only be done late, and twice.
        assert server.heads.count(b"POST /mcp HTTP/1.1") == 1
