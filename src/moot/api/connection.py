"""A connection to a project's store, as a person or as the agent whose token is in the environment."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from moot.api import access, addressing, rights, roster, showing
from moot.api.access import Access, Purpose
from moot.api.roster import Standing
from moot.bus import mailbox, messages
from moot.bus.mailbox import Mail, Receipt
from moot.bus.messages import Message
from moot.core.errors import NotAllowed
from moot.core.events import Cursor, Page, StoredEvent
from moot.core.ids import InstanceName, MessageId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.ledger import operations
from moot.ledger.operations import Deed
from moot.registry import agents, attempts, instances, names
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.store import feed
from moot.tools import conduct, talk
from moot.tools.talk import Said, Words

_SEND = "channel_send"  # as the tool is called that does the same
_CHANGING: tuple[Purpose, ...] = (_SEND, "request_respond", "request_create", "inbox_check")


@record
class Member:
    """An agent and how much mail it has."""

    standing: Standing
    unread: int
    parked: int


@record
class Connection(Access):
    """Everything a person can do from a terminal. Made by `connect`."""

    async def send(self, words: Words, *, is_guessed: bool = True) -> Said:
        """Say something in the caller's instance. Where it names nobody, whom a person means may be guessed."""
        said = replace(words, attempt=self.caller.attempt)

        def change(tx: Tx) -> Said:
            rights.check_writer(tx, self.caller)
            instance = instances.ensure(tx, self.caller.instance)
            speaker = self._speaker(tx, instance)
            if self.caller.attempt is not None:  # who has spoken for itself is not spoken for at its end
                deed = Deed("tool", _SEND, operations.hash_of({"message": said.body}))
                operations.begin(tx, deed, self.caller)
            ruled = conduct.checked(tx, instance, speaker, said)
            addressed = addressing.complete(tx, instance, speaker, ruled, is_guessed=is_guessed)
            return talk.say(tx, instance, speaker, addressed)

        return await self.store.write(change, caller=self.caller)

    async def for_words(self, words: Words) -> "Connection":
        """The same connection in the instance where a person's words belong who names none."""
        if self.caller.agent is not None:
            return self
        return self.within(await self.store.read(lambda tx: addressing.place(tx, words)))

    def within(self, instance: InstanceName) -> "Connection":
        return replace(self, caller=replace(self.caller, instance=instance))

    async def replies(self, sent: Message) -> AsyncGenerator[Message]:
        """What others say in answer: in the same thread, or to the sender by name, from now on."""
        async for page in self.store.feed(sent.stream).follow({sent.stream: sent.seq}):
            for message in await self.store.read(lambda tx, page=page: messages_of(tx, page)):
                is_answer = message.thread == sent.thread or sent.sender in message.mentions
                if is_answer and message.sender != sent.sender:
                    yield message

    async def inbox(self, agent: str | None = None, *, limit: int = 100) -> list[Mail]:
        """What waits for the caller, or for an agent, oldest first; looking changes nothing."""

        def look(tx: ReadTx) -> list[Mail]:
            found = self.whose(tx, agent)
            if found is None:
                return []
            waiting = mailbox.unread(tx, found.id, limit) + mailbox.parked(tx, found.id, limit)
            return sorted(waiting, key=lambda mail: mail.seq)[:limit]

        return await self.store.read(look)

    def check_reader(self, agent: str | None) -> None:
        """Agents look at their own mail only."""
        if self.caller.agent is not None and agent is not None and names.fold(agent) != names.fold(self.caller.name):
            raise NotAllowed(f"{self.caller.name} speaks only for itself.", "Leave the other name away.")

    def check_own(self, agent: str | None) -> None:
        """Nobody acknowledges for another."""
        if agent is not None and names.fold(agent) != names.fold(self.caller.name):
            raise NotAllowed(f"Only {agent} can acknowledge what waits for {agent}.", "Look without acknowledging.")

    async def acknowledge(self, mail: Sequence[Mail]) -> int:
        """The caller is done with these messages, and only these."""

        def change(tx: Tx) -> int:
            rights.check_writer(tx, self.caller)
            found = self.whose(tx, None)
            return sum(mailbox.ack_one(tx, found.id, one.seq) for one in mail) if found else 0

        return await self.store.write(change, caller=self.caller)

    async def hand_out(self, mail: Sequence[Mail]) -> None:
        """The caller has seen these messages. An attempt's are acknowledged with it; others' stay as they are."""
        agent, attempt = self.caller.agent, self.caller.attempt
        new = [one for one in mail if one.state == "queued"]
        if agent is None or attempt is None or not new:
            return

        def change(tx: Tx) -> None:
            attempts.guard(tx, self.caller)
            mailbox.hand_out_these(tx, agent, attempt, new)
            attempts.led_by(tx, attempt, max(one.hops for one in new))

        await self.store.write(change, caller=self.caller)

    async def members(self, instance: InstanceName | None = None, *, is_whole: bool = True) -> list[Member]:
        """Everyone but the person at the terminal, with their mail, in one instance or in all."""
        standings = await roster.roster(self.store, instance, is_whole=is_whole)

        def look(tx: ReadTx) -> list[Member]:
            counts = {
                count.agent: count
                for stream in {standing.agent.stream for standing in standings}
                for count in mailbox.counts(tx, stream).values()
            }
            return [
                Member(standing, count.unread if count else 0, count.parked if count else 0)
                for standing in standings
                for count in (counts.get(standing.agent.id),)
            ]

        return await self.store.read(look)

    async def latest(self, limit: int, agent: str | None = None) -> list[Message]:
        """The last messages of the caller's instance, or those of them that an agent has said or heard."""

        def look(tx: ReadTx) -> list[Message]:
            instance = instances.find(tx, self.caller.instance)
            if instance is None or agent is None:
                return messages.latest(tx, instance.stream, limit) if instance else []
            found = agents.named(tx, instance.stream, agent)
            return messages.latest_with(tx, instance.stream, found.name, found.id, limit)

        return await self.store.read(look)

    async def follow(self, after: int = 0) -> AsyncIterator[Message]:
        """Messages as they come, from behind a number; for ever."""
        stream = await self.stream()
        async for page in self.store.feed(stream).follow({stream: after}):
            for message in await self.store.read(lambda tx, page=page: messages_of(tx, page)):
                yield message

    async def end(self) -> int:
        """The number of what has happened last in the caller's instance; 0 if nothing has."""

        def look(tx: ReadTx) -> int:
            found = instances.find(tx, self.caller.instance)
            return 0 if found is None else feed.end(tx, found.stream).get(found.stream, 0)

        return await self.store.read(look)

    async def exists(self) -> bool:
        """Whether anything has happened in the caller's instance yet."""
        return await self.store.read(lambda tx: instances.find(tx, self.caller.instance)) is not None

    async def stream(self) -> StreamId:
        """Where the caller's instance speaks; waits until there is such an instance."""
        with self.store.listen() as signal:
            while True:
                signal.clear()
                found = await self.store.read(lambda tx: instances.find(tx, self.caller.instance))
                if found is not None:
                    return found.stream
                await signal.wait()

    async def events(self) -> AsyncIterator[StoredEvent]:
        """Everything that happened so far, stream by stream."""
        source = self.store.feed()
        cursor: Cursor = {}
        while (page := await source.page(cursor)).events:
            for event in page.events:
                yield event
            cursor = page.cursor

    async def receipts(self, message: Message) -> list[tuple[str, Receipt]]:
        """How far a message has come with each recipient, by name."""

        def look(tx: ReadTx) -> list[tuple[str, Receipt]]:
            found = mailbox.receipts(tx, message.stream, message.seq)
            return [(agents.get(tx, receipt.agent).name, receipt) for receipt in found]

        return await self.store.read(look)

    def _speaker(self, tx: Tx, instance: Instance) -> Agent:
        return agents.get(tx, self.caller.agent) if self.caller.agent else agents.person(tx, instance)

    def whose(self, tx: ReadTx, agent: str | None) -> Agent | None:
        """The agent of that name, or the caller; None for a person who has not been heard of."""
        instance = instances.find(tx, self.caller.instance)
        if agent is not None and agent != agents.PERSON:
            return agents.named(tx, (instance or instances.get(tx, self.caller.instance)).stream, agent)
        if agent is None and self.caller.agent is not None:
            return agents.get(tx, self.caller.agent)
        return instance and agents.find(tx, instance.stream, agents.PERSON)


@asynccontextmanager
async def connect(
    purpose: Purpose,
    *,
    store: str | None = None,
    instance: str | None = None,
    create: bool = False,
    waits: bool = False,
    start: Path | None = None,
) -> AsyncGenerator[Connection]:
    """Open the project's store for a purpose, as `access` does. What was changed in a team, its files show."""
    async with access.access(
        purpose, store=store, instance=instance, create=create, waits=waits, start=start
    ) as opened:
        before = await showing.looked(opened.store) if purpose in _CHANGING else None
        yield Connection(opened.store, opened.project, opened.caller)
        if before is not None:
            await showing.bring(opened.store, opened.project, before)


def messages_of(tx: ReadTx, page: Page) -> list[Message]:
    """The messages among the events of one stream's page."""
    posted = [event for event in page.events if event.kind == messages.POSTED]
    return [messages.get(tx, MessageId(event.subject), event.stream) for event in posted]
