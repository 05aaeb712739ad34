"""Shapes that tools share: strict arguments, frozen results, and the entry of a channel."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, JsonValue

from moot.bus.messages import Message
from moot.core import clock, json, text
from moot.core.errors import InvalidInput

MOST_CHARACTERS = 200
MOST_SEQ = 2**53  # what every JSON reader can count to
MOST_DETAIL = 64_000  # characters of JSON
LONGEST = timedelta(days=30).total_seconds()  # that something may stay open


def clean(value: str, *, limit: int = text.MAX_TEXT) -> str:
    """The text; ValueError, as validators raise it, if it holds what no text may."""
    try:
        return text.clean(value, "text", limit=limit)
    except InvalidInput as error:
        raise ValueError(error.fact.rstrip(".")) from error


def _short(value: str) -> str:
    return clean(value, limit=MOST_CHARACTERS)


def _one_line(value: str) -> str:
    """What stands in lines of ours: a line of its own could pass for one of moot's."""
    if len(value.splitlines()) != 1 or not value.strip():
        raise ValueError("This must be one line with something in it")
    return clean(value)


def _reference(value: str | int) -> str | int:
    """Models write numbers as text, too; of digits alone neither a timestamp nor an id is made."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        return _short(value)
    value = int(_short(str(value)))
    if not 0 <= value <= MOST_SEQ:
        raise ValueError(f"A number must be from 0 to {MOST_SEQ}")
    return value


def _plain(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    clean(json.dumps(value), limit=MOST_DETAIL)
    return value


Limit = Annotated[int, Field(ge=1, le=1000)]
Name = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(_short)]
Id = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(_short)]
Reference = Annotated[str | int, AfterValidator(_reference)]  # a message by timestamp, id or seq
Prose = Annotated[str, Field(max_length=100_000), AfterValidator(clean)]
Detail = Annotated[Mapping[str, JsonValue], AfterValidator(_plain)]  # whatever belongs to it
Line = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(_one_line)]
For = Annotated[Id | None, Field(description="Only for operators: an agent you registered.")]


# Built when they are first used (defer_build): a command that is started needs few of them.
class Arguments(BaseModel):
    """What a caller sends: nothing is coerced, nothing unknown is taken."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Result(BaseModel):
    """What a tool answers."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True, defer_build=True)


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


def written(one: Result) -> str:
    """A result as text; what is not known is left out."""
    return json.dumps(one.model_dump(mode="json", exclude_none=True))


def listed(many: Iterable[Result]) -> str:
    """Results as one text."""
    return json.dumps([one.model_dump(mode="json", exclude_none=True) for one in many])
