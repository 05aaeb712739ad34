"""Whether what concurrent clients saw could have happened one after the other.

Each operation is known by what was asked, what was answered, and when it began and ended. A history is linearizable if
there is an order of all operations that gives these very answers and in which no operation comes before one that had
ended when it began. Found by search (Wing and Gong), with what was tried before remembered:

    assert is_linearizable(history.operations, initial, step)

where `step(state, asked, answered)` is the state after it, or None if this answer cannot come in that state.
"""

import math
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")
S = TypeVar("S", bound=Hashable)


@dataclass(frozen=True)
class Operation(Generic[Asked, Answered]):
    """`ended` is infinite, and `answered` None, for one whose outcome nobody knows: it may have happened or not."""

    asked: Asked
    answered: Answered | None
    begun: float
    ended: float = math.inf


@dataclass
class History(Generic[Asked, Answered]):
    """What clients did; filled by them as they go."""

    operations: list[Operation[Asked, Answered]] = field(default_factory=list[Operation[Asked, Answered]])

    async def run(self, asked: Asked, work: Callable[[], Awaitable[Answered]]) -> Answered:
        """Do it, and remember when."""
        begun = time.monotonic()
        try:
            answered = await work()
        except BaseException:
            self.operations.append(Operation(asked, None, begun))
            raise
        self.operations.append(Operation(asked, answered, begun, time.monotonic()))
        return answered


def is_linearizable(
    operations: list[Operation[Asked, Answered]],
    initial: S,
    step: Callable[[S, Asked, Answered | None], S | None],
) -> bool:
    """`step` gets None as the answer of an operation whose outcome is not known."""
    everything = (1 << len(operations)) - 1
    certain = sum(1 << at for at, one in enumerate(operations) if math.isfinite(one.ended))
    tried: set[tuple[int, S]] = set()
    waiting: list[tuple[int, S]] = [(everything, initial)]
    while waiting:
        left, state = waiting.pop()
        if not left & certain:
            return True
        if (left, state) in tried:
            continue
        tried.add((left, state))
        ends = min(one.ended for at, one in enumerate(operations) if left >> at & 1)
        for at, one in enumerate(operations):
            if left >> at & 1 and one.begun <= ends:
                after = step(state, one.asked, one.answered)
                if after is not None:
                    waiting.append((left & ~(1 << at), after))
    return False
