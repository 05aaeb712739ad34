"""Reactions see each event once, and hosts that react at the same time never wait in a circle."""

from dataclasses import dataclass
from typing import Any

from moot.core.caller import SYSTEM
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.tx import Lockable, Tx
from moot.runner import react
from moot.store import feed, streams
from moot.store.store import Store


@dataclass
class Watched:
    """A transaction, and which rows were locked in it."""

    tx: Tx
    locked: list[str]

    def lock(self, table: Lockable, id: str) -> None:
        self.locked.append(f"{table} {id}")
        self.tx.lock(table, id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tx, name)


async def test_instances_are_locked_in_the_order_of_their_names(store: Store) -> None:
    """Streams are read in the order of their ids, and an instance has several."""
    owners = {"wf_1": "b", "wf_2": "a", "wf_3": "b", "wf_4": "a"}

    def change(tx: Tx) -> list[str]:
        for id, instance in owners.items():
            streams.create(tx, StreamId(id), instance)
            tx.emit(Event(StreamId(id), "happened", "x"))
        locked: list[str] = []
        react.react(Watched(tx, locked))  # pyright: ignore[reportArgumentType]  # the rest is the transaction's own
        return locked

    assert await store.write(change, caller=SYSTEM) == ["instances a"] * 2 + ["instances b"] * 2
    assert await store.read(lambda tx: feed.with_news(tx, 10)) == []
