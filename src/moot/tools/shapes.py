"""Shapes that tools share: strict arguments, frozen results, and the entry of a channel."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from moot.bus.mailbox import Mail
from moot.bus.messages import Message
from moot.core import clock

Limit = Annotated[int, Field(ge=1, le=1000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Id = Annotated[str, Field(min_length=1, max_length=200)]


class Arguments(BaseModel):
    """What a caller sends: nothing is coerced, nothing unknown is taken."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Result(BaseModel):
    """What a tool answers."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)


class Entry(Result):
    """One message as tools show it."""

    timestamp: str
    sender: str = Field(validation_alias=AliasChoices("sender", "from"), serialization_alias="from")
    message: str
    mentions: tuple[str, ...]
    id: str
    seq: int
    kind: str
    priority: str
    thread: str
    reply_to: str | None = None
    task_id: str | None = None


class InboxEntry(Result):
    """One message in an inbox."""

    entry: Entry
    unread: bool
    priority: str


def entry_of(message: Message | Mail) -> Entry:
    return Entry(
        timestamp=clock.to_iso(message.at),
        sender=message.sender,
        message=message.body,
        mentions=message.mentions,
        id=message.id,
        seq=message.seq,
        kind=message.kind,
        priority=message.priority,
        thread=message.thread,
        reply_to=message.reply_to,
        task_id=message.task_id,
    )
