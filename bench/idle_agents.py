"""What do a thousand agents cost a host while nobody talks to them?

Two whole hosts sleep side by side, one empty, one with a thousand agents who have each answered a message before.
"""

import asyncio
import time
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import psutil

from bench import loops
from bench.crew import Job, Order, Result, Worker, crew, together
from bench.harness import Figure, Scale
from moot.app import hosting
from moot.app.project import Project
from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.runner import idle
from moot.store import sqlite
from moot.store.store import Store
from moot.tools import talk
from moot.tools.talk import Words

MANY = 1_000
_INSTANCE = InstanceName("bench")
_SCRIPT = {"script": [{"on": "hello", "say": "hello to you"}]}


def measure(scale: Scale, folder: Path) -> list[Figure]:
    setups = [{"folder": str(folder / name), "agents": count} for name, count in (("empty", 0), ("full", MANY))]
    with crew(*(("bench.idle_agents:host", setup) for setup in setups)) as workers:
        seconds = 3.0 if scale.is_quick else 10.0
        found = [_round(workers, seconds) for _ in range(3)]
    shares, sizes = ([median(column) for column in zip(*rows, strict=True)] for rows in zip(*found, strict=True))
    return [
        Figure(
            f"CPU of a host with {MANY:,} idle agents over an empty one, in percent of a core",
            shares[1] - shares[0],
            1,
            "at most",
            (f"{shares[1]:.2f}% against {shares[0]:.2f}%; 3 rounds of {seconds:.0f} s side by side",),
        ),
        Figure(
            "its memory over an empty one, in parts of 200 MB",
            (sizes[1] - sizes[0]) / 200,
            1,
            "at most",
            (f"{sizes[1]:.0f} MB against {sizes[0]:.0f} MB",),
        ),
    ]


def _round(workers: list[Worker], seconds: float) -> tuple[list[float], list[float]]:
    """Percent of a core, and megabytes: of the empty host, of the full one."""
    results = together(workers, {"seconds": seconds})
    return [result["cpu"] / seconds * 100 for result in results], [result["memory"] / 1e6 for result in results]


@contextmanager
def host(setup: Order) -> Generator[Job]:
    with loops.runner() as runner:
        is_settled, is_over = asyncio.Event(), asyncio.Event()
        loop = runner.get_loop()
        life = loop.create_task(_live(Path(setup["folder"]), setup["agents"], is_settled, is_over))
        runner.run(_either(is_settled.wait(), life))

        def job(order: Order) -> Result:
            cpu = time.process_time()
            runner.run(asyncio.sleep(order["seconds"]))
            return {"cpu": time.process_time() - cpu, "memory": psutil.Process().memory_info().rss}

        yield job
        is_over.set()
        loop.run_until_complete(life)


async def _either(settled: Awaitable[object], life: "asyncio.Task[None]") -> None:
    """Wait for the first, unless the second fails before."""
    waiting = asyncio.ensure_future(settled)
    await asyncio.wait((waiting, life), return_when=asyncio.FIRST_COMPLETED)
    if life.done():
        life.result()


async def _live(folder: Path, count: int, is_settled: asyncio.Event, is_over: asyncio.Event) -> None:
    """A host whose agents have all been woken once, until it is over."""
    store = sqlite.open_file(folder / ".workflow" / "moot.db", create=True)
    newcomers = tuple(NewAgent(f"agent{number}", backend="scripted", settings=_SCRIPT) for number in range(count))
    await hosting.introduce(store, _INSTANCE, newcomers)
    async with hosting.hosting(Project(folder), store):
        for number in range(count):
            await store.write(partial(_greet, name=f"agent{number}"), caller=SYSTEM)
        await _quiet(store)
        is_settled.set()
        await is_over.wait()
    await store.close()


def _greet(tx: Tx, name: str) -> None:
    instance = instances.get(tx, _INSTANCE)
    talk.say(tx, instance, agents.person(tx, instance), Words("hello", (name,)))


async def _quiet(store: Store) -> None:
    """Wait until every agent has answered."""
    stream = (await store.read(lambda tx: instances.get(tx, _INSTANCE))).stream
    with store.listen() as signal:
        while True:
            signal.clear()
            if await store.read(lambda tx: idle.is_idle(tx, stream)):
                return
            await signal.wait(5)
