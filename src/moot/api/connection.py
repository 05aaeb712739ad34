"""A connection to a project's store, as a person or as the agent whose token is in the environment."""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from moot.api import targets
from moot.app import project as projects
from moot.app.project import Project
from moot.app.stores import open_store
from moot.bus import mailbox, mentions, messages
from moot.bus.mailbox import Mail, Receipt
from moot.bus.messages import Message
from moot.core.caller import Caller
from moot.core.events import Cursor, Page, StoredEvent
from moot.core.ids import InstanceName, MessageId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, attempts, hosts, instances, tokens
from moot.registry.agents import Agent
from moot.registry.errors import AgentNotFound
from moot.registry.hosts import Host
from moot.registry.instances import Instance
from moot.store.store import Store
from moot.tools import talk
from moot.tools.talk import Said, Words


@dataclass(frozen=True, slots=True)
class Member:
    """An agent and what it is doing."""

    agent: Agent
    state: str  # idle, running, stopped; for agents from outside: online, busy, offline
    unread: int
    parked: int


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything a person can do from a terminal. Made by `connect`."""

    store: Store
    project: Project
    caller: Caller

    async def send(self, words: Words) -> Said:
        """Say something in the caller's instance."""

        def change(tx: Tx) -> Said:
            attempts.guard(tx, self.caller)
            instance = instances.ensure(tx, self.caller.instance)
            return talk.say(tx, instance, self._speaker(tx, instance), self._addressed(tx, instance, words))

        return await self.store.write(change, caller=self.caller)

    async def replies(self, sent: Message) -> AsyncIterator[Message]:
        """What is said in answer: in the same thread, or to the sender by name, from now on."""
        async for page in self.store.feed(sent.stream).follow({sent.stream: sent.seq}):
            for message in await self.store.read(lambda tx, page=page: messages_of(tx, page)):
                if message.thread == sent.thread or sent.sender in message.mentions:
                    yield message

    async def inbox(self, agent: str | None = None, *, limit: int = 100) -> list[Mail]:
        """What waits for the caller, or for an agent; looking changes nothing."""

        def look(tx: ReadTx) -> list[Mail]:
            found = self._whose(tx, agent)
            return mailbox.unread(tx, found.id, limit) + mailbox.parked(tx, found.id, limit) if found else []

        return await self.store.read(look)

    async def acknowledge(self, mail: list[Mail]) -> int:
        """The caller is done with these messages, and only these."""

        def change(tx: Tx) -> int:
            found = self._whose(tx, None)
            return sum(mailbox.ack_one(tx, found.id, one.seq) for one in mail) if found else 0

        return await self.store.write(change, caller=self.caller)

    async def members(self, instance: InstanceName | None = None) -> list[Member]:
        """Everyone, in one instance or in all."""

        def look(tx: ReadTx) -> list[Member]:
            chosen = [one for one in instances.all_of(tx) if instance in (None, one.name)]
            return [member for one in chosen for member in members_of(tx, one)]

        return await self.store.read(look)

    async def latest(self, limit: int) -> list[Message]:
        """The last messages of the caller's instance."""

        def look(tx: ReadTx) -> list[Message]:
            instance = instances.find(tx, self.caller.instance)
            return messages.latest(tx, instance.stream, limit) if instance else []

        return await self.store.read(look)

    async def follow(self, after: int = 0) -> AsyncIterator[Message]:
        """Messages as they come, from behind a number; for ever."""
        instance = await self.store.write(lambda tx: instances.ensure(tx, self.caller.instance), caller=self.caller)
        async for page in self.store.feed(instance.stream).follow({instance.stream: after}):
            for message in await self.store.read(lambda tx, page=page: messages_of(tx, page)):
                yield message

    async def events(self) -> AsyncIterator[StoredEvent]:
        """Everything that happened so far, stream by stream."""
        source = self.store.feed()
        cursor: Cursor = {}
        while (page := await source.page(cursor)).events:
            for event in page.events:
                yield event
            cursor = page.cursor

    async def receipts(self, message: Message) -> list[Receipt]:
        return await self.store.read(lambda tx: mailbox.receipts(tx, message.stream, message.seq))

    async def hosts(self) -> list[Host]:
        return await self.store.read(hosts.alive)

    def _speaker(self, tx: Tx, instance: Instance) -> Agent:
        return agents.get(tx, self.caller.agent) if self.caller.agent else agents.person(tx, instance)

    def _whose(self, tx: ReadTx, agent: str | None) -> Agent | None:
        instance = instances.find(tx, self.caller.instance)
        if agent is not None:
            return agents.named(tx, (instance or instances.get(tx, self.caller.instance)).stream, agent)
        if self.caller.agent is not None:
            return agents.get(tx, self.caller.agent)
        return instance and agents.find(tx, instance.stream, agents.PERSON)

    def _addressed(self, tx: ReadTx, instance: Instance, words: Words) -> Words:
        """With nobody named, the only agent there is must be meant."""
        if words.to or words.kind == "broadcast" or mentions.names(words.body) or words.reply_to:
            return words
        others = [one for one in agents.members(tx, instance.stream) if one.backend not in ("human", "service")]
        if len(others) != 1:
            known = ", ".join(one.name for one in others) or "nobody yet (start one with moot serve --agents FILE)"
            raise AgentNotFound("It is not clear who should hear this.", f"Use --to or @name. Here are: {known}.")
        return Words(words.body, (others[0].name,), words.kind, words.reply_to, words.task_id, words.attempt)


@asynccontextmanager
async def connect(
    *,
    store: str | None = None,
    instance: str = targets.DEFAULT,
    create: bool = False,
    start: Path | None = None,
) -> AsyncGenerator[Connection]:
    """Open the project's store; with `create`, make it if there is none."""
    project = projects.find(start)
    opened = open_store(project.store_url(store), create=create)
    try:
        yield Connection(opened, project, await _caller(opened, instance))
    finally:
        await opened.close()


def members_of(tx: ReadTx, instance: Instance) -> list[Member]:
    counts = mailbox.counts(tx, instance.stream)
    return [
        Member(agent, _state(tx, agent), found.unread if found else 0, found.parked if found else 0)
        for agent in agents.members(tx, instance.stream)
        if agent.backend != "service"
        for found in (counts.get(agent.id),)
    ]


def messages_of(tx: ReadTx, page: Page) -> list[Message]:
    """The messages among the events of one stream's page."""
    posted = [event for event in page.events if event.kind == messages.POSTED]
    return [messages.get(tx, MessageId(event.subject), event.stream) for event in posted]


def _state(tx: ReadTx, agent: Agent) -> str:
    if agent.backend == "external":
        return agent.presence(tx.now)
    if agent.stopped_at is not None:
        return "stopped"
    return "running" if attempts.running(tx, agent.id) else "idle"


async def _caller(store: Store, instance: str) -> Caller:
    token = os.environ.get("MOOT_TOKEN")
    if token:
        return await store.read(lambda tx: tokens.identify(tx, token))
    return Caller(name=agents.PERSON, role="operator", instance=InstanceName(instance))
