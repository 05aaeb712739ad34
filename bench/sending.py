"""One durable send through the store: the message, a mailbox row, the event, the stream's next number."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from moot.bus import messages
from moot.bus.messages import Draft, Message, Recipient
from moot.core.caller import SYSTEM, Caller
from moot.core.ids import AgentId, InstanceName, StreamId
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.store import sqlite
from moot.store.store import Store

BODY = "@reader the parser drops the last line of a file without a newline; see tests/parser/test_lines.py"
INSTANCE = InstanceName("bench")
_CALLER = Caller(name="sender", role="member", instance=INSTANCE)


@dataclass(frozen=True, slots=True)
class Channel:
    """An open store, and two who talk in it."""

    store: Store
    stream: StreamId
    sender: AgentId
    reader: AgentId

    async def send(self, body: str = BODY) -> Message:
        draft = Draft(self.stream, "sender", body, self.sender, mentions=("reader",))
        to = (Recipient(self.reader, "reader"),)
        return await self.store.write(lambda tx: messages.post(tx, draft, to), caller=_CALLER)


@dataclass(frozen=True, slots=True)
class Tally:
    """What a while of sending came to."""

    sends: int
    seconds: float
    cpu: float

    @property
    def per_second(self) -> float:
        return self.sends / self.seconds


async def open_channel(folder: Path) -> Channel:
    """The store in a folder, durable as in daily life. Several processes may open the same."""
    store = sqlite.open_file(folder / "moot.db", create=True)

    def join(tx: Tx) -> Channel:
        instance = instances.ensure(tx, INSTANCE)
        sender, reader = (agents.ensure(tx, instance, NewAgent(name)) for name in ("sender", "reader"))
        return Channel(store, instance.stream, sender.id, reader.id)

    return await store.write(join, caller=SYSTEM)


async def send_for(channel: Channel, callers: int, seconds: float) -> Tally:
    """So many callers, each with its next send as soon as the last was answered."""
    started, cpu = time.monotonic(), time.process_time()
    until = started + seconds

    async def caller() -> int:
        count = 0
        while time.monotonic() < until:
            await channel.send()
            count += 1
        return count

    counts = await asyncio.gather(*(caller() for _ in range(callers)))
    return Tally(sum(counts), time.monotonic() - started, time.process_time() - cpu)
