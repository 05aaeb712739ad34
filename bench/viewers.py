"""Worker processes around the live page: one that serves it and tells what CPU it has used, and one with many browsers
that hear its events and look again now and then."""

import asyncio
import re
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import loops, sending
from bench.crew import Job, Order, Result
from moot.api.page import making
from moot.app.project import Project
from moot.mcp import server
from moot.mcp.server import Endpoints, Options
from moot.web import visiting

_SENT = re.compile(rb'"message":"(\d{10,})"')
_LOOK_EVERY = 1.0  # seconds, of each viewer, while events come


@contextmanager
def page(setup: Order) -> Generator[Job]:
    """Serves; an order makes links, and every answer tells the CPU time so far."""
    folder = Path(setup["folder"])
    is_up, is_over = threading.Event(), asyncio.Event()
    found: list[tuple[asyncio.AbstractEventLoop, str, sending.Channel]] = []

    async def live() -> None:
        channel = await sending.open_channel(folder)
        shown = making.make(channel.store, Project(folder))
        async with server.serving(channel.store, Endpoints(), Options(page=shown)) as address:
            found.append((asyncio.get_running_loop(), str(address.url), channel))
            is_up.set()
            await is_over.wait()
        await channel.store.close()

    thread = threading.Thread(target=loops.run, args=(live(),), daemon=True)
    thread.start()
    if not is_up.wait(30):
        raise RuntimeError("the server did not start")
    loop, url, channel = found[0]

    def job(order: Order) -> Result:
        if not order.get("link"):
            return {"cpu": time.process_time()}
        made = visiting.link(channel.store, url, sending.INSTANCE, "observer")
        return {"link": asyncio.run_coroutine_threadsafe(made, loop).result(30)}

    yield job
    loop.call_soon_threadsafe(is_over.set)
    thread.join(10)


@dataclass(slots=True)
class Viewer:
    """One browser."""

    host: str
    cookie: str
    ages: list[float] = field(default_factory=list[float])
    heard: int = 0

    async def watch(self, count: int) -> None:
        """Until so many events were heard, all in order and none twice."""
        reader, writer = await self._asked("/api/events", "keep-alive")
        await reader.readuntil(b"hello")
        self.is_here.set()
        last = 0
        while self.heard < count:
            line = await reader.readline()
            sent = _SENT.search(line)
            if sent is not None:
                self.heard += 1
                assert int(sent[1]) > last
                last = int(sent[1])
                self.ages.append((time.monotonic_ns() - last) / 1e9)
        writer.close()

    is_here: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self) -> None:
        """Again and again."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            reader, writer = await self._asked("/api/overview?limit=20", "close")
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
            writer.close()

    async def _asked(self, path: str, connection: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = self.host.split(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
        head = f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\nConnection: {connection}\r\nCookie: {self.cookie}\r\n\r\n"
        writer.write(head.encode())
        return reader, writer


@contextmanager
def audience(setup: Order) -> Generator[Job]:
    """`{viewers}` has them come, `{count}` has them hear so many events and tells how old each was."""
    with loops.runner() as runner:
        here: list[tuple[Viewer, asyncio.Task[None], asyncio.Task[None]]] = []

        async def come(viewers: int, count: int) -> None:
            host, cookie = await _entered(setup["link"])
            for _ in range(viewers):
                viewer = Viewer(host, cookie)
                here.append((viewer, asyncio.ensure_future(viewer.watch(count)), asyncio.ensure_future(viewer.look())))
            await asyncio.gather(*(viewer.is_here.wait() for viewer, _, _ in here))

        async def hear() -> list[float]:
            await asyncio.gather(*(watching for _, watching, _ in here))
            for _, _, looking in here:
                looking.cancel()
            ages = [age for viewer, _, _ in here for age in viewer.ages]
            here.clear()
            return ages

        def job(order: Order) -> Result:
            if "viewers" in order:
                runner.run(come(order["viewers"], order["count"]))
                return {}
            return {"ages": sorted(runner.run(hear()))[:: max(1, order["every"])]}

        yield job


async def _entered(link: str) -> tuple[str, str]:
    host, secret = link.removeprefix("http://").split("/login#")
    name, port = host.split(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    body = f'{{"link":"{secret}"}}'
    writer.write(
        f"POST /api/login HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    answer = (await reader.read()).decode()
    writer.close()
    found = re.search(r"set-cookie: ([^;]+);", answer, re.IGNORECASE)
    assert found, answer
    return host, found[1]
