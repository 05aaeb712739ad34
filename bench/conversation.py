"""What does a conversation cost: five scripted agents pass a hundred messages on, in process?

The measure is a bare loop that makes the same durable writes: the statements of one conversation are recorded, and
played again on an empty store, in the same transactions. Beside it, how long it takes when hosts look every 250 ms.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import apsw

from bench import commits, loops
from bench.harness import Figure, Scale, interleaved, micros, millis
from bench.place import disk
from moot.backends.backend import Access
from moot.backends.scripted import ScriptedBackend
from moot.core.caller import SYSTEM
from moot.core.ids import HostId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal
from moot.process import identity
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.instances import Instance
from moot.runner import idle, neighbours
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Begun, Kit
from moot.runner.host import Host
from moot.runner.worker import Worker
from moot.store import sqlite
from moot.store.sqlite import SqliteStore, files
from moot.store.sqlite.files import StoreFile
from moot.tools import talk
from moot.tools.talk import Words
from moot.tools.toolbox import AttemptToolbox

AGENTS = 5
MESSAGES = 100
CHAIN = 20  # messages until somebody speaks who is no agent: longer ones are stopped as going round in circles
POLLED = 20  # messages, when hosts look every 250 ms
POLL_SECONDS = 0.25
Statement = tuple[str, Any]


def measure(scale: Scale, folder: Path) -> list[Figure]:
    recorded = _recorded(folder / "recorded")
    counts: list[float] = []
    walls: list[float] = []
    places = (folder / str(number) for number in range(1000))

    def moot() -> float:
        with commits.watched() as batches:
            cpu, wall = loops.run(_talk(next(places), MESSAGES, started=batches.clear))
        said = MESSAGES + MESSAGES // CHAIN  # with the first of every chain
        counts.append((len(batches) - 1) / said)  # without the host's leave
        walls.append(wall / MESSAGES)
        return cpu / MESSAGES

    rounds = interleaved(
        scale,
        moot=moot,
        bare=lambda: _replay(next(places), recorded) / MESSAGES,
        disk=disk(folder, scale.seconds / 4),
    )
    with _polling():
        _, polled = loops.run(_talk(next(places), POLLED))
    facts = (
        f"moot {micros(rounds.middle('moot'))} a message; bare {micros(rounds.middle('bare'))}",
        f"{sum(not _is_boundary(sql) for sql, _ in recorded) / MESSAGES:.1f} writes a message",
        f"a message takes {millis(median(walls))}, when hosts look every 250 ms {millis(polled / POLLED)}",
        f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",
    )
    return [
        Figure("commits a message of a conversation", median(counts), 2, "at most", facts[1:]),
        Figure(
            "CPU of a conversation, times a bare loop with the same writes",
            rounds.ratio("moot", "bare"),
            3,
            "at most",
            facts,
        ),
    ]


async def _talk(folder: Path, count: int, started: Callable[[], None] = lambda: None) -> tuple[float, float]:
    """CPU and wall seconds from the first message to the last."""
    store = sqlite.open_file(folder / "moot.db", create=True)
    try:
        instance = await store.write(lambda tx: _gather(tx, count), caller=SYSTEM)
        async with _running(store):
            started()
            cpu, wall = time.process_time(), time.monotonic()
            for step in range(1, count, CHAIN):
                first = Words(f"@agent{(step - 1) % AGENTS} step {step}.")
                await store.write(lambda tx, first=first: talk.say(tx, instance, None, first), caller=SYSTEM)
                await _until(store, lambda tx: idle.is_idle(tx, instance.stream))
            return time.process_time() - cpu, time.monotonic() - wall
    finally:
        await store.close()


def _gather(tx: Tx, count: int) -> Instance:
    """A ring of agents, each of which passes a step on to the next; the last of a chain says that it is done."""
    instance = instances.ensure(tx, "bench")
    for number in range(AGENTS):
        script: list[Json] = [
            {
                "on": rf"step {step}\.",
                "say": f"@agent{(number + 1) % AGENTS} step {step + 1}." if step % CHAIN else "done",
            }
            for step in range(number + 1, count + 1, AGENTS)
        ]
        agents.ensure(tx, instance, NewAgent(f"agent{number}", backend="scripted", settings={"script": script}))
    return instance


@asynccontextmanager
async def _running(store: SqliteStore) -> AsyncGenerator[None]:
    @asynccontextmanager
    async def equip(begun: Begun) -> AsyncGenerator[Kit]:
        toolbox = AttemptToolbox(store, begun.caller, begun.job.id)
        yield Kit(toolbox, Access("", "", lambda: False), Path(), Path())

    def workers(host: HostId) -> Mapping[str, Worker]:
        return {"attempt": AttemptWorker(store, host, {"scripted": ScriptedBackend()}, equip)}

    host = Host(store, NewHost(neighbours.machine(), str(identity.current()), ("react", "work", "run")), workers)
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield
        finally:
            host.stop(now=True)


async def _until(store: SqliteStore, is_so: Callable[[ReadTx], bool]) -> None:
    async with asyncio.timeout(120):
        with store.listen() as signal:
            signal.clear()
            while not await store.read(is_so):
                await signal.wait()
                signal.clear()


@contextmanager
def _polling() -> Generator[None]:
    """Nobody is woken by a commit: whoever listens looks again after 250 ms."""
    ring, wait = Signal.ring, Signal.wait

    async def look_again(self: Signal, seconds: float | None = None) -> bool:
        await asyncio.sleep(POLL_SECONDS)
        return True

    Signal.wait = look_again
    try:
        yield
    finally:
        Signal.ring, Signal.wait = ring, wait


def _recorded(folder: Path) -> list[Statement]:
    """What one conversation writes, statement by statement."""
    found: list[Statement] = []
    connect = files.connect

    def tracing(file: StoreFile) -> apsw.Connection:
        connection = connect(file)

        def note(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
            if _is_boundary(sql) or sql.lstrip().lower().startswith(("insert", "update", "delete")):
                found.append((sql, bindings))
            return True

        connection.exec_trace = note
        return connection

    files.connect = tracing
    try:
        loops.run(_talk(folder, MESSAGES))
    finally:
        files.connect = connect
    return list(_whole(found))


def _whole(found: list[Statement]) -> Iterator[Statement]:
    """Only transactions that write, without those of readers."""
    batch: list[Statement] = []
    for sql, bindings in found:
        match sql:
            case "begin immediate":
                batch = [(sql, bindings)]
            case "commit":
                if len(batch) > 1:
                    yield from (*batch, (sql, bindings))
                batch = []
            case "begin" | "rollback":
                continue
            case _:
                batch.append((sql, bindings))


def _is_boundary(sql: str) -> bool:
    return sql in ("begin", "begin immediate", "commit", "rollback")


def _replay(folder: Path, recorded: list[Statement]) -> float:
    """CPU seconds of the same writes in a bare loop."""
    store = sqlite.open_file(folder / "moot.db", create=True)
    loops.run(store.close())
    with contextlib.closing(files.connect(StoreFile(folder / "moot.db"))) as connection:
        started = time.process_time()
        for sql, bindings in recorded:
            connection.execute(sql, bindings).fetchall()
        return time.process_time() - started
