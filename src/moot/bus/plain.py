"""A message as JSON, with the names that tools, files, commands and the page share. Keys are added, never renamed."""

from moot.bus.messages import Message
from moot.core import clock
from moot.core.json import Json


def message(one: Message) -> dict[str, Json]:
    return {
        "timestamp": clock.to_iso(one.at),
        "from": one.sender,
        "message": one.body,
        "mentions": one.mentions,
        "id": one.id,
        "seq": one.seq,
        "kind": one.kind,
        "priority": one.priority,
        "thread": one.thread,
        "reply_to": one.reply_to,
        "task_id": one.task_id,
    }
