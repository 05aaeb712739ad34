"""`channel.md` of an instance: grows with the conversation, and is written anew when it is not what we left there.

A hidden note beside it says how far it goes. Both can be deleted at any time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from moot.bus.messages import Message
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.ids import StreamId
from moot.views import channel
from moot.views.folder import Folder, NotPlain

FILE = "channel.md"
NOTE = ".channel.json"
_MOST_BYTES_OF_NOTE = 10_000


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a channel file goes: up to this message, of this day, with so many bytes."""

    stream: StreamId
    seq: int = 0
    size: int = 0
    day: date | None = None


def mark(place: Folder, stream: StreamId) -> Mark:
    """Where to go on; at the beginning, if the file is not what we left there."""
    try:
        noted = json.load_object(place.read(NOTE, _MOST_BYTES_OF_NOTE)[0])
        found = Mark(
            StreamId(str(noted["stream"])), int(str(noted["seq"])), int(str(noted["size"])), _day(noted["day"])
        )
    except (OSError, NotPlain, InvalidInput, KeyError, ValueError):
        return Mark(stream)
    there = place.stamp(FILE)
    is_ours = found.stream == stream and there is not None and there.is_plain and there.size == found.size
    return found if is_ours else Mark(stream)


def extend(place: Folder, start: Mark, said: Sequence[Message]) -> Mark | None:
    """Write these messages behind the mark; None if somebody else has touched the file meanwhile."""
    content = "".join(channel.pieces(said, start.day)).encode()
    there = place.stamp(FILE)
    if start.size and there is not None:
        stamp = place.append(FILE, content, there)
    else:
        stamp = place.write(FILE, content, there, is_durable=False)
    if stamp is None:
        return None
    last = said[-1] if said else None
    reached = Mark(start.stream, last.seq if last else start.seq, stamp.size, last.at.date() if last else start.day)
    _note(place, reached)
    return reached


def _note(place: Folder, reached: Mark) -> None:
    content = {
        "stream": reached.stream,
        "seq": reached.seq,
        "size": reached.size,
        "day": reached.day.isoformat() if reached.day else None,
    }
    place.write(NOTE, json.dump_bytes(content), place.stamp(NOTE), is_durable=False)


def _day(noted: json.Json) -> date | None:
    return None if noted is None else date.fromisoformat(str(noted))
