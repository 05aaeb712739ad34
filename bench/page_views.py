"""How long do the views of the live page take in a run of 100,000 messages and 10,000 tasks?

Over HTTP, as a browser asks for them, one after the other; the first view is the overview with its events.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import httpx2

from bench import boards, history, loops
from bench.boards import Desk
from bench.harness import Figure, Scale, interleaved, millis
from moot.api.page import making
from moot.app.project import Project
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.mcp import server
from moot.mcp.server import Endpoints, Options
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.web import visiting

MESSAGES, TASKS = 100_000, 10_000
SMALL = 100
_FIRST = 1.0  # seconds


class Site:
    """A page, and a browser that came in."""

    def __init__(self, folder: Path, messages: int, tasks: int) -> None:
        self._folder, self._messages, self._tasks = folder, messages, tasks

    async def open(self) -> None:
        self._desk = desk = await boards.open_file(self._folder)
        file = self._folder / "moot.db"
        await asyncio.to_thread(boards.fill, file, desk, self._tasks, self._tasks // 2)
        members = await desk.store.write(lambda tx: _members(tx, desk), caller=SYSTEM)
        await asyncio.to_thread(history.add, file, desk.board.stream, members, self._messages)
        page = making.make(desk.store, Project(self._folder))
        self._serving = server.serving(desk.store, Endpoints(), Options(page=page))
        address = await self._serving.__aenter__()
        link = await visiting.link(desk.store, address.url, desk.board.instance, "observer")
        url, secret = link.split("/login#")
        self._client = httpx2.AsyncClient(base_url=url, timeout=60)
        assert (await self._client.post("/api/login", json={"link": secret})).status_code == 200

    async def close(self) -> None:
        await self._client.aclose()
        await self._serving.__aexit__(None, None, None)
        await self._desk.store.close()

    async def took(self, path: str) -> float:
        """Seconds, beyond the pause that looks at the same are apart."""
        await asyncio.sleep(0.3)
        started = time.monotonic()
        answer = await self._client.get(path.format(plan=self._desk.board.id))
        assert answer.status_code == 200, answer.text
        return time.monotonic() - started


def _members(tx: Tx, desk: Desk) -> tuple[agents.AgentId, agents.AgentId]:
    instance = instances.get(tx, desk.board.instance)
    first, second = (agents.ensure(tx, instance, NewAgent(name)) for name in ("sender", "reader"))
    return first.id, second.id


VIEWS = {
    "the overview": "/api/overview",
    "messages before a number": "/api/messages?before=50000",
    "messages at a date": "/api/messages?at=2023-11-14T22:13:21Z",
    "messages of one kind": "/api/messages?kinds=question",
    "agents": "/api/agents",
    "the board": "/api/plans/{plan}/board",
    "the graph": "/api/plans/{plan}/graph.svg",
    "the timeline": "/api/timeline",
    "costs": "/api/costs",
    "costs by task": "/api/costs?by=task",
}


def measure(scale: Scale, folder: Path) -> list[Figure]:
    with loops.runner() as runner:
        big, small = Site(folder / "big", MESSAGES, TASKS), Site(folder / "small", SMALL, SMALL)
        runner.run(big.open())
        runner.run(small.open())

        def figure(name: str, path: str) -> Figure:
            def side(site: Site) -> Callable[[], float]:
                return lambda: runner.run(site.took(path))

            rounds = interleaved(scale, big=side(big), small=side(small))
            facts = (f"{millis(rounds.middle('big'))}; at {SMALL} of each {millis(rounds.middle('small'))}",)
            return Figure(f"{name}, times {_FIRST:.0f} s", rounds.middle("big") / _FIRST, 1.0, "at most", facts)

        figures = [figure(name, path) for name, path in VIEWS.items()]
        runner.run(big.close())
        runner.run(small.close())
    return figures
