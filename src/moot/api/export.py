"""Everything out of the store: views for people, JSON lines for programs."""

from collections.abc import AsyncIterator
from pathlib import Path

from moot.api.connection import Connection
from moot.bus import messages
from moot.bus.messages import Message
from moot.core import clock
from moot.core.ids import MessageId, StreamId
from moot.core.json import Json
from moot.registry import instances
from moot.registry.instances import Instance
from moot.views import channel, files

_CHUNK = 1000


async def views(connection: Connection) -> list[Path]:
    """Write the views of every instance again; returns the files."""
    written: list[Path] = []
    for instance in await connection.store.read(instances.all_of):
        file = connection.project.folder / instance.name / "channel.md"
        files.replace(file, channel.markdown([message async for message in _messages(connection, instance)]))
        written.append(file)
    return written


async def lines(connection: Connection) -> AsyncIterator[dict[str, Json]]:
    """Every event, with the whole message where one was posted."""
    async for event in connection.events():
        line: dict[str, Json] = {
            "stream": event.stream,
            "seq": event.seq,
            "at": clock.to_iso(event.at),
            "kind": event.kind,
            "subject": event.subject,
            "actor": event.actor,
            "data": dict(event.data),
        }
        if event.kind == messages.POSTED:
            line["message"] = await _message(connection, MessageId(event.subject), event.stream)
        yield line


def message_json(message: Message) -> dict[str, Json]:
    """A message with the names that tools use."""
    return {
        "timestamp": clock.to_iso(message.at),
        "from": message.sender,
        "message": message.body,
        "mentions": message.mentions,
        "id": message.id,
        "seq": message.seq,
        "kind": message.kind,
        "priority": message.priority,
        "thread": message.thread,
        "reply_to": message.reply_to,
        "task_id": message.task_id,
    }


async def _message(connection: Connection, id: MessageId, stream: StreamId) -> dict[str, Json]:
    return message_json(await connection.store.read(lambda tx: messages.get(tx, id, stream)))


async def _messages(connection: Connection, instance: Instance) -> AsyncIterator[Message]:
    """In chunks, so that no read holds a snapshot for long."""
    seq = 0
    while chunk := await connection.store.read(lambda tx, seq=seq: messages.after(tx, instance.stream, seq, _CHUNK)):
        for message in chunk:
            yield message
        seq = chunk[-1].seq
