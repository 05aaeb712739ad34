"""An instance with agents in it, and short ways to look and to change, for tests of the domains."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from moot.bus import mailbox, messages
from moot.bus.mailbox import Mail
from moot.bus.messages import Draft, Message, Recipient
from moot.core.caller import SYSTEM
from moot.core.events import StoredEvent
from moot.core.ids import AgentId, AttemptId, HostId, JobId, StreamId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, attempts, instances
from moot.registry.agents import Agent, NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.instances import Instance
from moot.store.store import Store

T = TypeVar("T")


@dataclass(frozen=True)
class House:
    store: Store
    instance: Instance

    @property
    def stream(self) -> StreamId:
        return self.instance.stream

    async def write(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)

    async def read(self, look: Callable[[ReadTx], T]) -> T:
        return await self.store.read(look)

    async def join(self, name: str, backend: str = "external") -> Agent:
        """The agent of this name, which is here; one from outside joins by itself."""
        new = NewAgent(name=name, backend=backend)

        def change(tx: Tx) -> Agent:
            if backend != "external":
                return agents.ensure(tx, self.instance, new)
            return agents.find(tx, self.stream, name) or agents.register(tx, self.instance, new)

        return await self.write(change)

    async def post(self, body: str, *to: Agent, reply_to: Message | None = None) -> Message:
        """Say it as `human`; to these agents, whatever the text mentions."""
        return await self.write(lambda tx: posted(tx, self.stream, body, to, reply_to))

    async def start(self, agent: Agent, job: str = "jb_1", fence: int = 1) -> AttemptId:
        new = NewAttempt(agent.id, agent.stream, JobId(job), fence, 1, HostId("ho_1"))
        return await self.write(lambda tx: attempts.start(tx, new))

    async def unread(self, agent: Agent) -> list[str]:
        """`state body` of what waits for an agent."""
        return described(await self.read(lambda tx: mailbox.unread(tx, agent.id, 1000)))

    async def parked(self, agent: Agent) -> list[str]:
        return described(await self.read(lambda tx: mailbox.parked(tx, agent.id, 1000)))

    async def states(self, message: Message) -> dict[AgentId, str]:
        """How far a message has come with each recipient."""
        receipts = await self.read(lambda tx: mailbox.receipts(tx, message.stream, message.seq))
        return {receipt.agent: receipt.state for receipt in receipts}

    async def events(self) -> list[StoredEvent]:
        return list((await self.store.feed(self.stream).page({}, 10_000)).events)


async def build(store: Store, name: str = "default") -> House:
    return House(store, await store.write(lambda tx: instances.ensure(tx, name), caller=SYSTEM))


def posted(tx: Tx, stream: StreamId, body: str, to: Sequence[Agent] = (), reply_to: Message | None = None) -> Message:
    draft = Draft(stream, "human", body, reply_to=reply_to.id if reply_to else None)
    return messages.post(tx, draft, [Recipient(agent.id, agent.name, agent.backend == "service") for agent in to])


def described(mail: list[Mail]) -> list[str]:
    return [f"{one.state} {one.body}" for one in mail]
