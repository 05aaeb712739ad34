"""The demo: scripted agents on a real store, through a real server, in a folder that is gone afterwards."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import monotonic

from moot.api.connection import messages_of
from moot.app import hosting, workflows
from moot.app.project import Project
from moot.app.stores import open_store
from moot.bus import messages
from moot.bus.messages import Message
from moot.core.caller import SYSTEM
from moot.core.events import StoredEvent
from moot.core.ids import DEFAULT_INSTANCE
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.instances import Instance
from moot.runner import idle
from moot.store.store import Store
from moot.tools import talk
from moot.tools.talk import Words
from moot.workflow.workflow import Workflow

_WORKFLOW = Path(__file__).with_name("demo.yaml")
_LONGEST = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt that will be repeated."""

    agent: str
    error: str
    number: int


@dataclass(frozen=True, slots=True)
class Summary:
    agents: int
    messages: int
    duration: timedelta


async def play() -> AsyncIterator[Message | Failed | Summary]:
    """What is said, as it is said; at the end, how it went."""
    with tempfile.TemporaryDirectory(prefix="moot-demo-") as folder:
        project = Project(Path(folder))
        workflow = workflows.read(project, _WORKFLOW)
        store = open_store(project.own_store_url, create=True)
        try:
            async with asyncio.timeout(_LONGEST.total_seconds()):
                async for piece in _play(project, store, workflow):
                    yield piece
        finally:
            await store.close()


async def _play(project: Project, store: Store, workflow: Workflow) -> AsyncIterator[Message | Failed | Summary]:
    await hosting.introduce(store, DEFAULT_INSTANCE, workflows.members(workflow))
    started = monotonic()
    async with hosting.hosting(project, store):
        instance = await store.write(lambda tx: _kick_off(tx, workflow.kickoff), caller=SYSTEM)
        said = 0
        async for piece in _until_quiet(store, instance):
            said += isinstance(piece, Message)
            yield piece
    yield Summary(len(workflow.agents), said, timedelta(seconds=monotonic() - started))


def _kick_off(tx: Tx, words: str) -> Instance:
    instance = instances.get(tx, DEFAULT_INSTANCE)
    talk.say(tx, instance, agents.person(tx, instance), Words(words))
    return instance


async def _until_quiet(store: Store, instance: Instance) -> AsyncIterator[Message | Failed]:
    feed, cursor = store.feed(instance.stream), {instance.stream: 0}
    with store.listen() as signal:
        while True:
            signal.clear()
            is_over = await store.read(lambda tx: idle.is_idle(tx, instance.stream))
            page = await feed.page(cursor)
            cursor = dict(page.cursor)
            said = {one.id: one for one in await store.read(lambda tx, page=page: messages_of(tx, page))}
            for event in page.events:
                if event.kind == messages.POSTED:
                    yield said[messages.MessageId(event.subject)]
                elif event.kind == "attempt_failed":
                    yield await _failed(store, event)
            if is_over and not page.events:
                return
            await signal.wait(None if page.events == () else 0)


async def _failed(store: Store, event: StoredEvent) -> Failed:
    id = agents.AgentId(str(event.data["agent"]))
    name = (await store.read(lambda tx: agents.get(tx, id))).name
    return Failed(name, str(event.data["error"]).splitlines()[0], int(str(event.data["number"])))
