"""Streams: the gap-free numbering of events, one counter row each; a run is one, an idle instance another."""

from moot.core import json
from moot.core.events import Event, Number
from moot.core.ids import StreamId
from moot.core.tx import Tx
from moot.store import queries

sql = queries.beside(__file__)


def create(tx: Tx, stream: StreamId, instance: str) -> None:
    """Start a stream at zero; does nothing if it is there."""
    tx.run(sql.create, stream=stream, instance=instance)


def append(tx: Tx, event: Event, micros: int) -> Number:
    """Give the event the stream's next number. Committed order is the order of numbers, on both databases, and
    times follow it, also when this transaction waited for the counter while a younger one used it."""
    # In two statements: RETURNING makes SQLite fill a table of its own, which takes longer than both.
    tx.run(sql.take_number, stream=event.stream, is_quiet=event.is_quiet, now=micros)
    number = tx.one(sql.number, Number, stream=event.stream)
    tx.put(
        sql.add_event,
        stream=event.stream,
        seq=number.seq,
        kind=event.kind,
        subject=event.subject,
        data=json.dumps(event.data),
        actor=tx.caller.name,
        at=number.at,
    )
    return number


def reacted(tx: Tx, stream: StreamId, seq: int) -> None:
    """Remember that every reaction has seen the stream up to here."""
    tx.run(sql.reacted, stream=stream, seq=seq)


def forget_events(tx: Tx, stream: StreamId, seq: int) -> None:
    """Events up to a number are gone for good."""
    tx.run(sql.forget_events, stream=stream, seq=seq)


def forget(tx: Tx, stream: StreamId) -> None:
    tx.run(sql.forget, stream=stream)
