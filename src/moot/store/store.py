"""The contract of a store, the same for every database."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from moot.core.caller import Caller
from moot.core.ids import StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal
from moot.store.feed import Feed

T = TypeVar("T")


class Store(Protocol):
    """Transactions are plain synchronous functions; they may run more than once, so they do nothing else."""

    def write(self, change: Callable[[Tx], T], /, *, caller: Caller) -> Awaitable[T]:
        """Answers after the commit: what it returned survives a crash. An answer that is there already takes no
        turn of the loop."""
        ...

    async def read(self, look: Callable[[ReadTx], T], /) -> T:
        """Sees one snapshot."""
        ...

    def listen(self) -> AbstractContextManager[Signal]:
        """A bell that rings after commits, in this process or another; a hint to look again."""
        ...

    def feed(self, stream: StreamId | None = None) -> Feed: ...

    async def close(self) -> None: ...


@record
class Limits:
    """How long things may take before somebody hears of it."""

    queued_seconds: float = 30.0  # in the queue for the writer, then STORE_BUSY
    at_once_seconds: float = 0.001  # a commit that took longer: the next is not done on the callers' own thread
    batch_functions: int = 256
    batch_seconds: float = 0.005
    slow_seconds: float = 0.05  # of CPU in one function: logged
    too_slow_seconds: float | None = None  # of CPU in one function, twice: refused (tests set this)
