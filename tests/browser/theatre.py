"""A project whose live page is open in a real browser, while real moot processes work in it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Error, Page, expect

from moot.api.connection import connect
from moot.bus.messages import Message
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.tools import talk
from moot.tools.talk import Words
from tests.stories.house import SECONDS, House

LONGEST = 20_000.0  # milliseconds
expect.set_options(timeout=LONGEST)
SIZES = {"wide": (1280, 820), "narrow": (360, 740)}


@dataclass(slots=True)
class Shown:
    """A page that is being served, until it is ended."""

    link: str
    end: Callable[[], Awaitable[None]]
    kill: Callable[[], Awaitable[None]]  # without a word

    @property
    def port(self) -> str:
        return str(urlsplit(self.link).port)

    def through(self, port: str) -> "Shown":
        """The same by another port."""
        return replace(self, link=self.link.replace(f":{self.port}/", f":{port}/"))

    @property
    def home(self) -> str:
        return self.link.partition("/login")[0] + "/"


@dataclass
class Visit:
    """Somebody at a page; what the page itself got wrong is kept. (Playwright notes its listeners in it: no slots.)"""

    page: Page
    faults: list[str] = field(default_factory=list[str])

    def watch(self) -> None:
        self.page.on("pageerror", self._failed)
        self.page.on("console", self._logged)

    def _failed(self, error: Error) -> None:
        self.faults.append(str(error))

    def _logged(self, message: ConsoleMessage) -> None:
        """What the server refuses, or that it is away, is logged by the browser and told by the page."""
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.faults.append(message.text)


@dataclass(slots=True)
class Theatre:
    house: House
    browser: Browser

    @asynccontextmanager
    async def showing(self, *more: str) -> AsyncGenerator[Shown]:
        """`moot ui`, until this is left."""
        process = await self.house.start("ui", "--no-open", *more)
        try:
            assert process.stdout is not None
            async with asyncio.timeout(SECONDS):
                line = await process.stdout.readline()
            assert b"http" in line, "moot ui printed no link"
            yield self._shown(line.decode().split()[-1], process)
        finally:
            await self.house.end(process)

    @asynccontextmanager
    async def playing(self, workflow: str, *more: str) -> AsyncGenerator[Shown]:
        """`moot start` of a workflow with its own page, until this is left."""
        file = self.house.root / "play.yaml"
        file.write_text(workflow)
        process = await self.house.start("start", str(file), "--ui", "--json", *more)
        try:
            async with asyncio.timeout(SECONDS):
                link = await _url(process)
            yield self._shown(link, process)
        finally:
            await self.house.end(process)

    def _shown(self, link: str, process: asyncio.subprocess.Process) -> Shown:
        async def kill() -> None:
            process.kill()
            await process.wait()

        return Shown(link, lambda: self.house.end(process), kill)

    @asynccontextmanager
    async def visit(self, shown: Shown, *, size: str = "wide", dark: bool = False) -> AsyncGenerator[Visit]:
        """Come in by the link. On leaving, nothing may have gone wrong in the page."""
        width, height = SIZES[size]
        context = await self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", timezone_id="UTC"
        )
        context.set_default_timeout(LONGEST)
        try:
            found = Visit(await context.new_page())
            found.watch()
            await found.page.goto(shown.link)
            await expect(found.page.get_by_role("heading", level=1)).to_have_text("Overview")
            yield found
            assert found.faults == []
        finally:
            await context.close()

    async def say(self, name: str, *bodies: str, instance: str = "default") -> list[Message]:
        """As somebody from outside, who joins if need be; each is a commit of its own."""
        return [one for body in bodies for one in await self.post([(name, Words(body))], instance)]

    async def post(self, said: Sequence[tuple[str, Words]], instance: str = "default") -> list[Message]:
        """What each says, in one commit."""

        def change(tx: Tx) -> list[Message]:
            place = instances.ensure(tx, instance)
            return [talk.say(tx, place, _speaker(tx, place, name), words).message for name, words in said]

        async with connect("channel_send", create=True, start=self.house.root) as joined:
            return await joined.store.write(change, caller=joined.caller)


def _speaker(tx: Tx, place: instances.Instance, name: str) -> Agent:
    return agents.find(tx, place.stream, name) or agents.register(tx, place, NewAgent(name, backend="external"))


async def _url(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        found = json.loads(line)
        if found["type"] == "page":
            return found["url"]
    raise AssertionError("there was no link to the page")
