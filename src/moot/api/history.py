"""What happened in an instance, event by event."""

from collections.abc import AsyncIterator

from moot.api.connection import Connection
from moot.core.events import StoredEvent
from moot.core.tx import ReadTx
from moot.registry import instances
from moot.store import feed


async def latest(connection: Connection, limit: int) -> list[StoredEvent]:
    """The last events of the caller's instance, oldest first."""

    def look(tx: ReadTx) -> list[StoredEvent]:
        instance = instances.find(tx, connection.caller.instance)
        if instance is None:
            return []
        newest = feed.end(tx, instance.stream).get(instance.stream, 0)
        return feed.events_after(tx, instance.stream, max(newest - limit, 0), limit)

    return await connection.store.read(look)


async def follow(connection: Connection, after: int = 0) -> AsyncIterator[StoredEvent]:
    """Events as they come, from behind a number; for ever."""
    stream = await connection.stream()
    async for page in connection.store.feed(stream).follow({stream: after}):
        for event in page.events:
            yield event
