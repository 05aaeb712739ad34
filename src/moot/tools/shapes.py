"""Shapes that tools share: strict arguments, frozen results, and the entry of a channel."""

from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field

from moot.bus.messages import Message
from moot.core import clock, text
from moot.core.errors import InvalidInput

MOST_CHARACTERS = 200
MOST_SEQ = 2**53  # what every JSON reader can count to


def _clean(value: str) -> str:
    try:
        return text.clean(value, "text", limit=MOST_CHARACTERS)
    except InvalidInput as error:
        raise ValueError(error.fact.rstrip(".")) from error


def _reference(value: str | int) -> str | int:
    """Models write numbers as text, too; of digits alone neither a timestamp nor an id is made."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        return _clean(value)
    value = int(_clean(str(value)))
    if not 0 <= value <= MOST_SEQ:
        raise ValueError(f"A number must be from 0 to {MOST_SEQ}")
    return value


Limit = Annotated[int, Field(ge=1, le=1000)]
Name = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(_clean)]
Id = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(_clean)]
Reference = Annotated[str | int, AfterValidator(_reference)]  # a message by timestamp, id or seq


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


def entry_of(message: Message) -> Entry:
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
