"""Work: a transaction function on its way through the writer, and the caller who waits for its answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moot.core.caller import Caller
from moot.core.tx import Tx


@dataclass(slots=True, eq=False)
class Work:
    """Result and error belong to the writer thread until it settles the work; the rest to the caller's loop."""

    change: Callable[[Tx], Any]
    caller: Caller
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Any]"
    overdue_at: float  # by the loop's clock
    result: Any = None
    error: Exception | None = None

    def refuse(self, error: Exception) -> None:
        """Answer before the writer does. On the caller's loop."""
        if not self.answer.done():
            self.answer.set_exception(error)


def settle(batch: list[Work], on: asyncio.AbstractEventLoop | None = None) -> None:
    """Send every answer to its caller's loop. On the writer thread, or `on` one of these loops."""
    if len(batch) == 1 and batch[0].loop is on:  # most often
        _deliver(batch)
        return
    for loop in {work.loop for work in batch}:
        theirs = [work for work in batch if work.loop is loop]
        if loop is on:
            _deliver(theirs)
            continue
        try:
            loop.call_soon_threadsafe(_deliver, theirs)
        except RuntimeError:  # that loop has ended, and its callers with it
            continue


def _deliver(batch: list[Work]) -> None:
    """Answer every caller with what the writer found. On their loop."""
    for work in batch:
        if work.error is not None:
            work.refuse(work.error)
        elif not work.answer.done():
            work.answer.set_result(work.result)
