"""Streams: the gap-free numbering of events, one counter row each; a run is one, an idle instance another."""

from moot.core.ids import StreamId
from moot.core.tx import Tx
from moot.store import queries

sql = queries.beside(__file__)


def create(tx: Tx, stream: StreamId, instance: str) -> None:
    """Start a stream at zero; does nothing if it is there."""
    tx.run(sql.create, stream=stream, instance=instance)


def reacted(tx: Tx, stream: StreamId, seq: int) -> None:
    """Remember that every reaction has seen the stream up to here."""
    tx.run(sql.reacted, stream=stream, seq=seq)


def forget_events(tx: Tx, stream: StreamId, seq: int) -> None:
    """Events up to a number are gone for good."""
    tx.run(sql.forget_events, stream=stream, seq=seq)


def forget(tx: Tx, stream: StreamId) -> None:
    tx.run(sql.forget, stream=stream)
