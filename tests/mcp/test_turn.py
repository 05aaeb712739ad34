"""Of several relays that lose a server, one at a time takes over."""

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path

from moot.mcp.relay import turn
from moot.mcp.relay.link import Link, Patience
from tests.mcp.clients import DEADLINE


def test_the_turn_is_one_relays_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "moot.sock"
    with turn.taken(path) as first, turn.taken(path) as second:
        assert (first, second) == (True, False)
    with turn.taken(path) as next_one:
        assert next_one


def test_without_a_folder_the_turn_is_everybodys(tmp_path: Path) -> None:
    with turn.taken(tmp_path / "none" / "moot.sock") as is_ours:
        assert is_ours


class Crowd:
    """Relays without a server; whoever takes over does so in its own time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.takers = 0
        self.may_serve = asyncio.Event()
        self.knocks: asyncio.Queue[None] = asyncio.Queue()
        self.server = ExitStack()

    async def take_over(self) -> None:
        self.takers += 1
        await self.may_serve.wait()
        listening = self.server.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(str(self.path))
        listening.listen()

    async def connect(self, patience: Patience) -> None:
        _, writer = await Knocking(self, patience).connect()
        writer.close()


class Knocking(Link):
    def __init__(self, crowd: Crowd, patience: Patience) -> None:
        super().__init__(crowd.path, crowd.take_over, patience)
        self._crowd = crowd

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._crowd.knocks.put_nowait(None)
        return await super().open()


async def test_one_relay_takes_over_and_the_others_find_it(tmp_path: Path) -> None:
    crowd = Crowd(tmp_path / "s")
    with crowd.server:
        async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(crowd.connect(Patience(pause=0.001, gone=0.001, turn=DEADLINE)))
            for _ in range(100):
                await crowd.knocks.get()  # who has not the turn goes on looking for a server
            assert crowd.takers == 1
            crowd.may_serve.set()
    assert crowd.takers == 1


async def test_a_relay_whose_turn_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    crowd = Crowd(tmp_path / "s")
    crowd.may_serve.set()
    with turn.taken(crowd.path) as is_stuck:
        assert is_stuck
        with crowd.server:
            async with asyncio.timeout(DEADLINE):
                await crowd.connect(Patience(pause=0.001, gone=0.001, turn=0.05))
    assert crowd.takers == 1


class Late(Knocking):
    """Does not find the server the first time."""

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._crowd.knocks.empty():
            self._crowd.knocks.put_nowait(None)
            raise ConnectionRefusedError
        return await super().open()


async def test_a_relay_looks_once_more_when_it_has_the_turn(tmp_path: Path) -> None:
    crowd = Crowd(tmp_path / "s")
    crowd.may_serve.set()
    with crowd.server:
        await crowd.take_over()
        _, writer = await Late(crowd, Patience(gone=0)).connect()
        writer.close()
    assert crowd.takers == 1
