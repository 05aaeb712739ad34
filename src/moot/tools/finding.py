"""Finding something by its words: the index is brought up to date first, then asked."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from moot.core.tx import ReadTx, Tx
from moot.search import search
from moot.search.search import Found, Place, Where
from moot.search.sqlite import indexing
from moot.search.wanted import Wanted

T = TypeVar("T")


class Hands(Protocol):
    """As much of a call, or of a store, as searching needs."""

    async def read(self, look: Callable[[ReadTx], T]) -> T: ...

    async def upkeep(self, change: Callable[[Tx], T]) -> T: ...


async def find(hands: Hands, place: Place, wanted: Wanted, where: Where, limit: int) -> list[Found]:
    """The newest first."""
    if await hands.read(lambda tx: search.is_behind(tx, place)):
        while await hands.upkeep(lambda tx: indexing.catch_up(tx, place.stream, place.instance)):
            pass
    return await hands.read(lambda tx: search.find(tx, place, wanted, where, limit))
