"""A host with scripted agents over a given store, for tests of the runner."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from moot.backends.backend import Access, Backend
from moot.backends.scripted import ScriptedBackend
from moot.bus import mailbox, messages
from moot.bus.mailbox import Mail, Receipt
from moot.bus.messages import Message
from moot.core.caller import SYSTEM
from moot.core.events import StoredEvent
from moot.core.ids import HostId
from moot.core.json import Json
from moot.core.tool import Toolbox
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.process import identity
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.instances import Instance
from moot.runner import expiry, idle, limit_workers, limits, neighbours
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Begun, Kit
from moot.runner.host import Host, Pace
from moot.runner.journals import Signs
from moot.runner.own_transaction import OwnTransaction
from moot.runner.retry import Retry
from moot.runner.worker import Worker
from moot.store import feed
from moot.store.store import Store
from moot.tools import asking, guards, talk, voting
from moot.tools.talk import Said, Words
from moot.tools.toolbox import AttemptToolbox

SECONDS = 20.0
QUICK = Retry(backoff=timedelta(milliseconds=1))
Line = Mapping[str, Json]


@dataclass(frozen=True)
class Team:
    """A store with agents, and ways to look at what they did."""

    store: Store
    instance: Instance

    async def say(self, body: str, *to: str) -> Said:
        def change(tx: Tx) -> Said:
            return talk.say(tx, self.instance, agents.person(tx, self.instance), Words(body, to))

        return await self.store.write(change, caller=SYSTEM)

    async def bodies(self) -> list[str]:
        return [f"{one.sender}: {one.body}" for one in await self.channel()]

    async def channel(self) -> list[Message]:
        return await self.store.read(lambda tx: messages.latest(tx, self.instance.stream, 100_000))

    async def events(self, kind: str) -> list[StoredEvent]:
        page = await self.store.feed(self.instance.stream).page({}, 10_000)
        return [event for event in page.events if event.kind == kind]

    async def receipts(self, said: Said) -> list[Receipt]:
        return await self.store.read(lambda tx: mailbox.receipts(tx, said.message.stream, said.message.seq))

    async def inbox(self, name: str) -> list[Mail]:
        def look(tx: ReadTx) -> list[Mail]:
            agent = agents.named(tx, self.instance.stream, name)
            return mailbox.unread(tx, agent.id, 100) + mailbox.parked(tx, agent.id, 100)

        return await self.store.read(look)

    async def idle_but_for_mail(self) -> None:
        """Until nobody works, whatever lies in mailboxes."""
        await self.until(lambda tx: not jobs.live(tx, self.instance.stream))

    async def idle(self) -> None:
        await self.until(lambda tx: idle.is_idle(tx, self.instance.stream))

    async def until(self, is_so: Callable[[ReadTx], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            with self.store.listen() as signal:
                signal.clear()
                while not await self.store.read(is_so):
                    await signal.wait()
                    signal.clear()

    async def until_event(self, kind: str) -> None:
        def has_event(tx: ReadTx) -> bool:
            return any(event.kind == kind for event in feed.events_after(tx, self.instance.stream, 0, 10_000))

        await self.until(has_event)


async def gather(store: Store, scripts: Mapping[str, list[Line]]) -> Team:
    """Agents with these lines in a fresh instance."""

    def change(tx: Tx) -> Instance:
        instance = instances.ensure(tx, "default")
        for name, lines in scripts.items():
            agents.ensure(tx, instance, NewAgent(name=name, backend="scripted", settings={"script": lines}))
        return instance

    return Team(store, await store.write(change, caller=SYSTEM))


def make_host(store: Store, *, retry: Retry = QUICK, pace: Pace | None = None, backend: Backend | None = None) -> Host:
    """A host as the application wires it, with tools in process."""
    stopping = asyncio.Event()

    def workers(host: HostId) -> Mapping[str, Worker]:
        return {
            "attempt": replace(make_worker(store, host, retry=retry, backend=backend), signs=Signs(stopping)),
            voting.EXPIRE: OwnTransaction(store, expiry.end_proposal),
            asking.EXPIRE: OwnTransaction(store, expiry.end_request),
            guards.LIMIT: OwnTransaction(store, limit_workers.end_talk),
            limits.TIME: OwnTransaction(store, limit_workers.end_in_time),
        }

    new = NewHost(neighbours.machine(), str(identity.current()), ("serve", "react", "work", "run"))
    return Host(store, new, workers, pace, stopping)


def make_worker(store: Store, host: HostId, *, retry: Retry = QUICK, backend: Backend | None = None) -> AttemptWorker:
    @asynccontextmanager
    async def equip(begun: Begun) -> AsyncGenerator[Kit]:
        yield in_process(AttemptToolbox(store, begun.caller, begun.delivery))

    return AttemptWorker(store, host, {"scripted": backend or ScriptedBackend()}, equip, retry)


def in_process(toolbox: Toolbox) -> Kit:
    """For a backend that starts no program."""
    return Kit(toolbox, Access("", "", lambda: False), Path(), Path())


@asynccontextmanager
async def running(host: Host) -> AsyncGenerator[Host]:
    """The host at work; stopped, with a deadline, on leaving."""
    is_ready = asyncio.Event()
    async with asyncio.timeout(2 * SECONDS), asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield host
        finally:
            host.stop(now=True)
