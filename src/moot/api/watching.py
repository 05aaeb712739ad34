"""Watching an instance: what is said and who works, as it happens."""

from collections.abc import AsyncIterator
from datetime import datetime

from moot.api.access import Access
from moot.bus import messages
from moot.bus.messages import Message
from moot.core.events import StoredEvent
from moot.core.ids import AgentId, InstanceName, MessageId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import agents, attempts, instances, runs
from moot.store import feed
from moot.teams import teams

# What people want to hear of, and in which words; {name} is the agent's or the workflow's.
_TOLD = {
    runs.STARTED: "the run of {name} begins",
    runs.RESUMED: "the run goes on",
    runs.ENDED: "the run is over: {state} {reason}",
    attempts.STARTED: "{name} is at work",
    attempts.FAILED: "{name} failed: {error}",
    attempts.INTERRUPTED: "{name} was interrupted",
    attempts.LOST: "{name} lost its host",
    teams.STAGE: "the team is {to}, round {round} {reason}",
    "agent_stopped": "{name} is stopped",
    "document_changed": "{subject} was {action} by {by}",
}


@record
class News:
    """Something that happened, in words."""

    at: datetime
    text: str


async def watch(access: Access, instance: InstanceName, last: int) -> AsyncIterator[Message | News]:
    """From the last so many messages on, for ever."""
    stream = (await access.store.read(lambda tx: instances.get(tx, instance))).stream
    said = await access.store.read(lambda tx: messages.latest(tx, stream, last))
    for message in said:
        yield message
    seen = said[-1].seq if said else await access.store.read(lambda tx: feed.end(tx, stream).get(stream, 0))
    async for page in access.store.feed(stream).follow({stream: seen}):
        for event in page.events:
            piece = await access.store.read(lambda tx, event=event: _told(tx, event))
            if piece is not None:
                yield piece


def _told(tx: ReadTx, event: StoredEvent) -> Message | News | None:
    if event.kind == messages.POSTED:
        return messages.get(tx, MessageId(event.subject), event.stream)
    words = _TOLD.get(event.kind)
    if words is None:
        return None
    facts = {name: str(value) for name, value in event.data.items()}
    if "agent" in event.data:
        facts["name"] = agents.get(tx, AgentId(str(event.data["agent"]))).name
    return News(event.at, words.format_map({"subject": event.subject, **facts}).strip())
