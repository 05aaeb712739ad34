"""Ears: where whoever has a flow in hand hears what others in the same process say of it.

It spares the detour through the store, where such a word is left for whoever has the flow elsewhere, or will.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Protocol, TypeVar

from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import Tx

T = TypeVar("T")
Change = Callable[[Tx], Mapping[str, Json]]  # what comes of a word, and what it is answered


@record
class Word:
    """That a step is done: what is said of it, of which strand, and of which version of the flow this is true."""

    strand: int
    body: Mapping[str, Json]
    version: int
    at: datetime


class Ear(Protocol):
    async def hear(self, word: Word, write: Callable[[Change], Awaitable[T]]) -> T | None:
        """What `write` has made of the answer; None, and nothing is done, if it has to be left in the store. `write`
        commits the change with the record of who says it: so both are on record, or neither."""
        ...


class Ears:
    """All of one process, by flow."""

    def __init__(self) -> None:
        self._known: dict[FlowId, Ear] = {}

    def find(self, flow: str) -> Ear | None:
        return self._known.get(FlowId(flow))

    @contextmanager
    def open(self, flow: FlowId, ear: Ear) -> Generator[None]:
        self._known[flow] = ear
        try:
            yield
        finally:
            if self._known.get(flow) is ear:  # else somebody has taken it over already
                del self._known[flow]
