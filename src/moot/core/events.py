"""Events: what happened, in the order it was committed, per stream."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from moot.core.ids import StreamId
from moot.core.json import Json
from moot.core.records import record

Cursor = Mapping[StreamId, int]  # the last sequence number read, per stream


@record
class Event:
    """Something that is about to be committed; the transaction gives it its number."""

    stream: StreamId
    kind: str
    subject: str
    data: Mapping[str, Json] = field(default_factory=dict[str, Json])
    is_quiet: bool = False  # no reaction wants it: it does not make work for hosts


@record
class Number:
    """An event's place in its stream."""

    seq: int
    at: int  # in microseconds, as stored: it goes straight back


@record
class StoredEvent:
    """A committed event: `seq` counts from 1 without gaps in its stream."""

    stream: StreamId
    seq: int
    kind: str
    subject: str
    data: Mapping[str, Json]
    actor: str
    at: datetime


@record
class Page:
    """Some events in order, and where to read on."""

    events: tuple[StoredEvent, ...]
    cursor: Cursor
