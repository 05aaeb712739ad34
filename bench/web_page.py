"""How soon does a browser show the live page of 100,000 messages and 10,000 tasks, and an event after its commit?

In a real Chromium, with nothing cached, from the beginning of the navigation until what is asked for is there.
"""

import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.async_api import Browser, Page, async_playwright

from bench import boards, history, loops
from bench.boards import Desk
from bench.harness import Figure, Scale, millis, quantile
from moot.core.caller import SYSTEM
from moot.core.ids import AgentId
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.tools import talk
from moot.tools.talk import Words
from tests.browser import chromium

MESSAGES, TASKS, EVENTS = 100_000, 10_000, 100
SMALL = 100
FIRST, EVENT = 1.0, 0.2  # seconds
VIEWS = {
    "the first view": ("", ".roster li"),
    "the conversation": ("#/conversation", ".messages .message"),
    "agents": ("#/agents", ".agent"),
    "the board": ("#/tasks", ".board .task"),
    "the graph": ("#/tasks/graph", ".picture g[data-key]"),
}
# Notes when something that matches is in the document for the first time, and what was said when.
_WATCH = """(selector) => {
  window.seen = {};
  new MutationObserver(() => {
    if (window.first === undefined && document.querySelector(selector)) window.first = performance.now();
    for (const one of document.querySelectorAll(".messages .message:nth-last-child(-n+3) .prose")) {
      window.seen[one.textContent] ??= Date.now();
    }
  }).observe(document, { subtree: true, childList: true });
}"""
_SEEN = """(body) => new Promise((resolve) => {
  const look = () => (window.seen[body] ? resolve(window.seen[body]) : setTimeout(look, 1));
  look();
})"""


@dataclass(frozen=True, slots=True)
class Site:
    """A page that is served by a process of its own, and how to come in."""

    desk: Desk
    link: str

    @property
    def home(self) -> str:
        return self.link.partition("login")[0]


def measure(scale: Scale, folder: Path) -> list[Figure]:
    return loops.run(_measure(scale, folder))


async def _measure(scale: Scale, folder: Path) -> list[Figure]:
    async with (
        _site(folder / "big", MESSAGES, TASKS) as big,
        _site(folder / "small", SMALL, SMALL) as small,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=chromium.program(), args=chromium.QUIET)
        states = {site.link: await _come_in(browser, site) for site in (big, small)}
        figures = [await _view(browser, scale, (big, small), states, name) for name in VIEWS]
        figures.append(await _events(browser, big, states[big.link]))
        await browser.close()
    return figures


@asynccontextmanager
async def _site(folder: Path, messages: int, tasks: int) -> AsyncGenerator[Site]:
    desk = await boards.open_file(folder)
    file = folder / "moot.db"
    await asyncio.to_thread(boards.fill, file, desk, tasks, tasks // 2)
    members = await desk.store.write(lambda tx: _members(tx, desk), caller=SYSTEM)
    await asyncio.to_thread(history.add, file, desk.board.stream, members, messages)
    words = ("ui", "--no-open", "--store", f"sqlite:///{file}", "--instance", desk.board.instance)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "moot", *words, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        yield Site(desk, line.decode().split()[-1])
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()
        await desk.store.close()


def _members(tx: Tx, desk: Desk) -> tuple[AgentId, AgentId]:
    instance = instances.get(tx, desk.board.instance)
    first, second = (agents.ensure(tx, instance, NewAgent(name)) for name in ("sender", "reader"))
    return first.id, second.id


async def _come_in(browser: Browser, site: Site) -> str:
    """The cookies of the visit."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(site.link)
    await page.wait_for_selector("nav")
    cookies = json.dumps(await context.cookies())
    await context.close()
    return cookies


@asynccontextmanager
async def _opened(browser: Browser, cookies: str, selector: str) -> AsyncGenerator[Page]:
    """A page with nothing cached, that notes what it shows when."""
    context = await browser.new_context(viewport={"width": 1280, "height": 820})
    await context.add_cookies(json.loads(cookies))
    await context.add_init_script(f"({_WATCH})({json.dumps(selector)})")
    yield await context.new_page()
    await context.close()


async def _view(browser: Browser, scale: Scale, sites: tuple[Site, Site], states: dict[str, str], name: str) -> Figure:
    place, selector = VIEWS[name]
    took: dict[str, list[float]] = {site.link: [] for site in sites}
    for _ in range(scale.rounds):
        for site in sites:
            async with _opened(browser, states[site.link], selector) as page:
                await page.goto(site.home + place)
                await page.wait_for_selector(selector, state="attached")
                took[site.link].append(await page.evaluate("window.first") / 1000)
    big, small = (median(took[site.link]) for site in sites)
    facts = (f"{millis(big)}; at {SMALL} of each {millis(small)}; {scale.rounds} rounds",)
    return Figure(f"{name} in Chromium, times {FIRST:.0f} s", big / FIRST, 1.0, "at most", facts)


async def _events(browser: Browser, site: Site, cookies: str) -> Figure:
    """From the commit of a message until it is in the document."""
    waits: list[float] = []
    async with _opened(browser, cookies, ".messages .message") as page:
        await page.goto(site.home)
        await page.wait_for_selector(".messages .message")
        for number in range(EVENTS):
            body = f"event {number}"
            await site.desk.store.write(lambda tx, body=body: _say(tx, site.desk, body), caller=SYSTEM)
            committed = time.time()
            waits.append(await page.evaluate(_SEEN, body) / 1000 - committed)
    late = quantile(waits, 0.99)
    facts = (f"p99 {millis(late)}, median {millis(median(waits))}; {EVENTS} events",)
    return Figure(
        f"an event on the screen after its commit, p99, times {millis(EVENT)}", late / EVENT, 1.0, "at most", facts
    )


def _say(tx: Tx, desk: Desk, body: str) -> None:
    instance = instances.get(tx, desk.board.instance)
    talk.say(tx, instance, agents.find(tx, instance.stream, "sender"), Words(body))
