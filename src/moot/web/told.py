"""Events as the page hears them, in the words of server-sent events. A message comes whole; of anything else the page
learns what has changed, and looks again."""

from collections.abc import Sequence
from dataclasses import field

from moot.bus import messages, plain
from moot.core import clock, json
from moot.core.errors import MootError
from moot.core.events import StoredEvent
from moot.core.ids import MessageId, StreamId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.store import feed

PAGE = 200
_NOT_BEGUN = StreamId("new")


@record
class Place:
    """Where somebody has got to: after it everything is told, once. Its spelling is the id of an event."""

    stream: StreamId
    seq: int

    @property
    def is_before_all(self) -> bool:
        return self.stream == _NOT_BEGUN

    def __str__(self) -> str:
        return f"{self.stream}:{self.seq}"


BEFORE_ALL = Place(_NOT_BEGUN, 0)  # of an instance in which nothing had happened


@record
class Told:
    """One event, ready to be sent to everybody."""

    seq: int
    text: bytes = field(repr=False)


def place(spelled: str) -> Place | None:
    """None, if it is none."""
    stream, _, seq = spelled.rpartition(":")
    return Place(StreamId(stream), int(seq)) if stream and seq.isascii() and seq.isdigit() else None


def after(tx: ReadTx, stream: StreamId, seq: int) -> list[Told]:
    """The next events behind a number."""
    return tell(tx, feed.events_after(tx, stream, seq, PAGE))


def tell(tx: ReadTx, events: Sequence[StoredEvent]) -> list[Told]:
    return [Told(one.seq, event_of("", _plain(tx, one), Place(one.stream, one.seq))) for one in events]


def event_of(name: str, data: Json, place: Place | None = None) -> bytes:
    id = b"" if place is None else f"id: {place}\n".encode()
    kind = b"" if not name else f"event: {name}\n".encode()
    return id + kind + b"data: " + json.dump_bytes(data) + b"\n\n"


def _plain(tx: ReadTx, event: StoredEvent) -> dict[str, Json]:
    found: dict[str, Json] = {
        "seq": event.seq,
        "kind": event.kind,
        "subject": event.subject,
        "actor": event.actor,
        "at": clock.to_iso(event.at),
        "data": dict(event.data),
    }
    if event.kind == messages.POSTED:
        found["message"] = _message(tx, event)
    return found


def _message(tx: ReadTx, event: StoredEvent) -> dict[str, Json] | None:
    try:
        return plain.message(messages.get(tx, MessageId(event.subject), event.stream))
    except MootError:  # deleted since
        return None
