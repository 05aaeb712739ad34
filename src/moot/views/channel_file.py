"""The channel of an instance as a file: grows with the conversation, and is written anew when it is not what we left.

A hidden note beside it says how far it goes. Both can be deleted at any time.
"""

from collections.abc import Sequence
from datetime import date

from moot.bus.messages import Message
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.folder import Folder, NotPlain
from moot.core.ids import StreamId
from moot.core.records import record
from moot.views import channel

NOTE = ".channel.json"
_MOST_BYTES_OF_NOTE = 10_000


@record
class Mark:
    """How far a channel file goes: up to this message, of this day, with so many bytes."""

    stream: StreamId
    seq: int = 0
    size: int = 0
    day: date | None = None


@record
class ChannelFile:
    place: Folder
    name: str

    def mark(self, stream: StreamId) -> Mark:
        """Where to go on; at the beginning, if the file is not what we left there."""
        try:
            noted = json.load_object(self.place.read(NOTE, _MOST_BYTES_OF_NOTE)[0])
            found = Mark(
                StreamId(str(noted["stream"])), int(str(noted["seq"])), int(str(noted["size"])), _day(noted["day"])
            )
        except (OSError, NotPlain, InvalidInput, KeyError, ValueError):
            return Mark(stream)
        there = self.place.stamp(self.name)
        is_ours = found.stream == stream and there is not None and there.is_plain and there.size == found.size
        return found if is_ours else Mark(stream)

    def extend(self, start: Mark, said: Sequence[Message]) -> Mark | None:
        """Write these messages behind the mark; None if somebody else has touched the file meanwhile."""
        content = "".join(channel.pieces(said, start.day)).encode()
        there = self.place.stamp(self.name)
        if start.size and there is not None:
            stamp = self.place.append(self.name, content, there)
        else:
            stamp = self.place.write(self.name, content, there, is_durable=False)
        if stamp is None:
            return None
        seq, day = (said[-1].seq, said[-1].at.date()) if said else (start.seq, start.day)
        reached = Mark(start.stream, seq, stamp.size, day)
        self._note(reached)
        return reached

    def _note(self, reached: Mark) -> None:
        content = {
            "stream": reached.stream,
            "seq": reached.seq,
            "size": reached.size,
            "day": reached.day.isoformat() if reached.day else None,
        }
        self.place.write(NOTE, json.dump_bytes(content), self.place.stamp(NOTE), is_durable=False)


def _day(noted: json.Json) -> date | None:
    return None if noted is None else date.fromisoformat(str(noted))
