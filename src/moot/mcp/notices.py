"""Notices: those who listen hear that the channel or a document has changed and that they were mentioned.

A notice is a hint and may be lost; the inbox is the truth. Nothing runs while nobody listens.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

from moot.bus import messages
from moot.bus.messages import Message
from moot.core import clock
from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.events import StoredEvent
from moot.core.ids import AgentId, InstanceName, MessageId, StreamId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.documents import documents, paths
from moot.mcp import identity
from moot.mcp.identity import Proof
from moot.registry import agents, instances
from moot.store import feed
from moot.store.store import Store

CHANNEL = "moot://channel"
MENTION = "notifications/mention"
UPDATED = "notifications/resources/updated"
_KEPT = 256  # of the notices that a slow listener has not taken
_LONGEST_MESSAGE = 4000
_PAGE = 200

_log = logging.getLogger("moot.mcp")


@record
class Notice:
    method: str
    params: Mapping[str, Json]


@dataclass(slots=True)
class Wants:
    """What a listener asked for; sessions of the older revisions change it as they go."""

    channel: bool = False
    mentions: bool = True
    documents: dict[str, str] = field(default_factory=dict[str, str])  # addresses as asked for, by folded path


@dataclass(eq=False, slots=True)
class Listener:
    """One open stream: who listens, what for, and what it has yet to take."""

    proof: Proof
    wants: Wants
    waiting: deque[Notice] = field(default_factory=lambda: deque[Notice](maxlen=_KEPT))
    is_closed: bool = False
    bell: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, notice: Notice) -> None:
        if notice.method != UPDATED or notice not in self.waiting:
            self.waiting.append(notice)
            self.bell.set()

    def close(self) -> None:
        self.is_closed = True
        self.bell.set()

    async def notices(self) -> AsyncIterator[Notice]:
        """Until it is closed."""
        while not self.is_closed:
            self.bell.clear()
            while self.waiting:
                yield self.waiting.popleft()
            if not self.is_closed:
                await self.bell.wait()


@dataclass(slots=True)
class _Watch:
    """How far an instance has been read for its listeners."""

    stream: StreamId | None
    seq: int
    listeners: set[Listener] = field(default_factory=set[Listener])


@record
class _News:
    """What a look at an instance found: how far it read, who is told what, and whose proof no longer holds."""

    stream: StreamId
    seq: int
    told: list[tuple[Listener, Notice]] = field(default_factory=list[tuple[Listener, Notice]])
    lost: list[Listener] = field(default_factory=list[Listener])


class Notices:
    """Follows the feed of every instance that somebody listens to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watches: dict[InstanceName, _Watch] = {}
        self._is_heard = asyncio.Event()

    @asynccontextmanager
    async def listen(self, proof: Proof, instance: InstanceName, wants: Wants) -> AsyncGenerator[Listener]:
        """A stream of what happens from now on."""
        watch = self._watches.get(instance)
        if watch is None:
            started = await self._store.read(lambda tx: _start(tx, instance))
            watch = self._watches.setdefault(instance, started)
        listener = Listener(proof, wants)
        watch.listeners.add(listener)
        self._is_heard.set()
        try:
            yield listener
        finally:
            watch.listeners.discard(listener)
            if not watch.listeners and self._watches.get(instance) is watch:
                del self._watches[instance]

    async def run(self) -> None:
        """Tell listeners, for ever."""
        while True:
            self._is_heard.clear()
            if not self._watches:
                await self._is_heard.wait()
            with self._store.listen() as signal:
                while self._watches:
                    signal.clear()
                    if not await self._look():
                        await signal.wait()

    def close(self) -> None:
        """End all streams."""
        for watch in self._watches.values():
            for listener in watch.listeners:
                listener.close()

    async def _look(self) -> bool:
        """Hand out a page of news for each instance; whether there was any."""
        found = [await self._look_at(name, watch) for name, watch in list(self._watches.items())]
        return any(found)

    async def _look_at(self, name: InstanceName, watch: _Watch) -> bool:
        listeners = tuple(watch.listeners)
        try:
            news = await self._store.read(lambda tx: _news(tx, name, watch, listeners))
        except MootError as error:
            _log.warning("notices could not be read: %s", error)
            return False
        if news is None:
            return False
        if listeners == tuple(watch.listeners):  # else somebody came meanwhile: read again, for all
            watch.stream, watch.seq = news.stream, news.seq
            for listener in news.lost:
                listener.close()
            for listener, notice in news.told:
                listener.tell(notice)
        return True


def _start(tx: ReadTx, name: InstanceName) -> _Watch:
    instance = instances.find(tx, name)
    if instance is None:
        return _Watch(None, 0)
    return _Watch(instance.stream, feed.end(tx, instance.stream).get(instance.stream, 0))


def _news(tx: ReadTx, name: InstanceName, watch: _Watch, listeners: Iterable[Listener]) -> _News | None:
    events = feed.events_after(tx, watch.stream, watch.seq, _PAGE) if watch.stream else []
    if not events or watch.stream is None:
        return _moved(tx, name, watch)
    news = _News(watch.stream, events[-1].seq)
    told = [event for event in events if event.kind in (messages.POSTED, documents.CHANGED)]
    for listener in listeners if told else ():
        try:
            caller = identity.caller_by(tx, listener.proof)
        except MootError:
            news.lost.append(listener)
        else:
            news.told.extend((listener, notice) for notice in _notices_for(tx, caller, listener.wants, told))
    return news


def _moved(tx: ReadTx, name: InstanceName, watch: _Watch) -> _News | None:
    """A new run has a stream of its own: once the old one is read, go on there from its beginning."""
    instance = instances.find(tx, name)
    return None if instance is None or instance.stream == watch.stream else _News(instance.stream, 0)


def _notices_for(tx: ReadTx, caller: Caller, wants: Wants, events: Iterable[StoredEvent]) -> Iterator[Notice]:
    for event in events:
        if event.kind == documents.CHANGED:
            if uri := wants.documents.get(paths.fold(event.subject)):
                yield Notice(UPDATED, {"uri": uri})
            continue
        if wants.channel:
            yield Notice(UPDATED, {"uri": CHANNEL})
        if wants.mentions:
            for target in _targets(tx, caller, event):
                yield _mention(messages.get(tx, MessageId(event.subject), event.stream), target)


def _targets(tx: ReadTx, caller: Caller, event: StoredEvent) -> list[str]:
    """Names under which the caller was meant: its own, or those of the agents that it speaks for."""
    to = [AgentId(str(id)) for id in cast(list[Json], event.data.get("to", []))]
    if caller.agent is not None:
        return [caller.name] if caller.agent in to else []
    if caller.role != "operator":
        return []
    reached = (agents.get(tx, id) for id in to)
    return [agent.name for agent in reached if agent.name == agents.PERSON or agent.registered_by == caller.token]


def _mention(message: Message, target: str) -> Notice:
    body = message.body
    return Notice(
        MENTION,
        {
            "from": message.sender,
            "target": target,
            "message": body if len(body) <= _LONGEST_MESSAGE else f"{body[:_LONGEST_MESSAGE]}…",
            "timestamp": clock.to_iso(message.at),
        },
    )
