"""How long does mail take in a team: from the lead that sends it to the worker that starts on it?

A team of a lead and three workers is at work, in one process with its host. The lead sends a thousand messages to each,
the next when the one before was begun with; the three at the same time. The published soak of the protocol that teams
follow had a p95 of 558 ms, and left mail unread.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import commits
from bench.harness import Figure, Scale, millis, quantile
from bench.place import disk
from moot.backends.backend import Access, Assignment, Ended, Progress
from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.ids import HostId, MessageId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.process import identity
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.registry.hosts import NewHost
from moot.registry.instances import Instance
from moot.registry.runs import NewRun
from moot.runner import handing_out, idle, neighbours, phases
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Begun, Kit
from moot.runner.host import Host
from moot.runner.own_transaction import OwnTransaction
from moot.runner.teams import advancing
from moot.runner.worker import Worker
from moot.store import sqlite
from moot.store.sqlite import SqliteStore
from moot.tools import talk, teamwork
from moot.tools.talk import Words
from moot.tools.toolbox import AttemptToolbox
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Budget, TeamDefinition, Workflow

WORKERS = ("worker-1", "worker-2", "worker-3")
MESSAGES = 1000  # for each
ALONE = 30  # of which each has the store for itself, to count commits
PUBLISHED = 0.558


@dataclass
class Started:
    """When each message was in the hands of its worker."""

    at: dict[MessageId, float] = field(default_factory=dict[MessageId, float])
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        """As a backend: what it starts with is noted, and nothing else is done."""
        now = time.monotonic()
        self.at.update({letter.id: now for letter in assignment.inbox})
        self.news.set()
        self.news = asyncio.Event()
        yield Ended()

    async def wait(self, id: MessageId) -> float:
        while id not in self.at:
            await self.news.wait()
        return self.at[id]


def measure(scale: Scale, folder: Path) -> list[Figure]:
    count = MESSAGES // 10 if scale.is_quick else MESSAGES
    syncs = disk(folder, scale.seconds / 4)()
    spent, ages, unread, seconds = asyncio.run(_soak(folder, count))
    p95 = quantile(ages, 0.95)
    told = f"{len(ages):,} messages in {seconds:.1f} s; p50 {millis(median(ages))}, p95 {millis(p95)}"
    facts = (told, f"nothing unread: {unread} messages; fdatasync {syncs:,.0f}/s")
    return [
        Figure("commits from a send to the start of its worker", max(spent), 4, "at most", (_median(spent),)),
        Figure("p95 of that in a team, times the published 558 ms", p95 / PUBLISHED, 1, "at most", facts),
        Figure("messages left unread", unread, 0, "at most"),
    ]


def _median(counts: list[float]) -> str:
    return f"median {median(counts):g}"


async def _soak(folder: Path, count: int) -> tuple[list[float], list[float], int, float]:
    store = sqlite.open_file(folder / "team" / "moot.db", create=True)
    started = Started()
    try:
        async with _hosted(store, started) as host:
            instance = await store.write(lambda tx: _team(tx, host), caller=SYSTEM)
            await _quiet(store, instance)
            spent = await _alone(store, instance, started)
            begun = time.monotonic()
            async with asyncio.TaskGroup() as group:
                sent = [group.create_task(_send(store, instance, name, count, started)) for name in WORKERS]
            seconds = time.monotonic() - begun
            await _quiet(store, instance)
            unread = await store.read(lambda tx: _unread(tx, instance))
    finally:
        await store.close()
    return spent, [age for one in sent for age in one.result()], unread, seconds


async def _alone(store: SqliteStore, instance: Instance, started: Started) -> list[float]:
    """How many commits each of some messages takes that have the store for themselves."""
    spent: list[float] = []
    for number in range(ALONE):
        with commits.watched() as batches:
            await _send(store, instance, WORKERS[number % len(WORKERS)], 1, started)
            spent.append(len(batches))
        await _quiet(store, instance)
    return spent


async def _send(store: SqliteStore, instance: Instance, name: str, count: int, started: Started) -> list[float]:
    """How long each took until its worker had it."""
    ages: list[float] = []
    words = Words("look at this", to=(name,))
    for _ in range(count):
        begun = time.monotonic()
        said = await store.write(lambda tx: talk.say(tx, instance, _lead(tx, instance), words), caller=SYSTEM)
        ages.append(await started.wait(said.message.id) - begun)
    return ages


def _lead(tx: ReadTx, instance: Instance) -> Agent:
    return agents.named(tx, instance.stream, "lead")


def _unread(tx: ReadTx, instance: Instance) -> int:
    names = {agents.named(tx, instance.stream, name).id for name in WORKERS}
    return sum(one.unread + one.parked for id, one in mailbox.counts(tx, instance.stream).items() if id in names)


def _team(tx: Tx, host: HostId) -> Instance:
    """A team whose lead comes from outside, and whose workers are there for whatever is sent to them."""
    team = TeamDefinition("lead", ("reviewer-1",), WORKERS)
    members = tuple(AgentDefinition(name, "external" if name == "lead" else "scripted") for name in team.parts)
    workflow = Workflow("bench", "bench.yaml", members, kickoff="a goal", budget=Budget(), team=team)
    instance = instances.ensure(tx, "bench")
    new = NewRun("bench", "bench.yaml", "start", stored.to_json(workflow), {}, host)
    run = phases.launch(tx, instance, new, [NewAgent(one.name, backend=str(one.backend)) for one in members])
    jobs.cancel(tx, f"{phases.SETUP}:{run.id}")  # there is none
    phases.begin(tx, run)
    return instance


async def _quiet(store: SqliteStore, instance: Instance) -> None:
    """Nobody does anything; what waits for the lead waits."""

    def is_quiet(tx: ReadTx) -> bool:
        working = [one for one in jobs.live(tx, instance.stream) if one.kind not in idle.HOUSEKEEPING]
        return not working and not _unread(tx, instance)

    async with asyncio.timeout(120):
        with store.listen() as signal:
            signal.clear()
            while not await store.read(is_quiet):
                await signal.wait(1.0)
                signal.clear()


@asynccontextmanager
async def _hosted(store: SqliteStore, started: Started) -> AsyncGenerator[HostId]:
    @asynccontextmanager
    async def equip(begun: Begun) -> AsyncGenerator[Kit]:
        toolbox = AttemptToolbox(store, begun.caller, begun.job.id)
        yield Kit(toolbox, Access("", "", lambda: False), Path(), Path())

    def workers(host: HostId) -> Mapping[str, Worker]:
        return {
            "attempt": AttemptWorker(store, host, {"scripted": started}, equip),
            handing_out.HAND_OUT: OwnTransaction(store, handing_out.hand_out),
            teamwork.LOOK: OwnTransaction(store, advancing.advance),
        }

    host = Host(store, NewHost(neighbours.machine(), str(identity.current()), ("react", "work", "run")), workers)
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield host.id
        finally:
            host.stop(now=True)
