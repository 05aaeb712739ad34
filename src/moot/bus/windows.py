"""Windows of a conversation that may be very long: some messages before or behind a number, or from a time on."""

from collections.abc import Sequence
from datetime import datetime
from typing import get_args

from moot.bus.messages import Kind, Message
from moot.core import json
from moot.core.ids import StreamId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.store import queries

sql = queries.beside(__file__)
KINDS: tuple[Kind, ...] = get_args(Kind)
_END = 2**62  # behind every number
_RECENT = 5000  # events


@record
class Sieve:
    """Which messages are of interest; nothing given: all."""

    kinds: Sequence[Kind] = ()
    sender: str = ""


@record
class _Mark:
    seq: int
    at: datetime


def older(tx: ReadTx, stream: StreamId, sieve: Sieve, before: int | None, limit: int) -> list[Message]:
    """The last before a number, or of all; oldest first."""
    kinds = json.dumps(sieve.kinds or KINDS)
    seq = _END if before is None else before
    found = tx.all(sql.older, Message, stream=stream, seq=seq, kinds=kinds, sender=sieve.sender, limit=limit)
    return list(reversed(found))


def newer(tx: ReadTx, stream: StreamId, sieve: Sieve, after: int, limit: int) -> list[Message]:
    """The first behind a number, oldest first."""
    kinds = json.dumps(sieve.kinds or KINDS)
    return tx.all(sql.newer, Message, stream=stream, seq=after, kinds=kinds, sender=sieve.sender, limit=limit)


def seq_at(tx: ReadTx, stream: StreamId, moment: datetime) -> int:
    """The number of the first message that is not older than a moment, or one behind the last. Times follow the
    numbers, so that the place is found by halving."""
    low, high = 1, (tx.maybe(sql.last_number, int, stream=stream) or 0) + 1
    while low < high:
        middle = (low + high) // 2
        mark = tx.maybe(sql.next_time, _Mark, stream=stream, seq=middle)
        if mark is None or mark.at >= moment:
            high = middle
        else:
            low = mark.seq + 1
    return low


def last_words(tx: ReadTx, stream: StreamId) -> dict[str, Message]:
    """What everybody has said last, by name. Who has been silent for very long is left out."""
    last = tx.maybe(sql.last_number, int, stream=stream) or 0
    found = tx.all(sql.last_words, Message, stream=stream, seq=last - _RECENT)
    return {one.sender: one for one in found}
