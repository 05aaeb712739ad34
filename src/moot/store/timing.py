"""Watches how long transaction functions hold the writer."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from moot.core.tx import Tx
from moot.store.errors import TransactionTooSlow
from moot.store.store import Limits

T = TypeVar("T")
_log = logging.getLogger("moot.store")


def watched(perform: Callable[[Callable[[Tx], T]], T], change: Callable[[Tx], T], limits: Limits) -> T:
    """Perform it, and judge it if it took long. The CPU's clock costs as much as a statement, so it is read again only
    then."""
    cpu, started = time.thread_time(), time.monotonic()
    result = perform(change)
    if time.monotonic() - started > limits.slow_seconds:
        judge(change, cpu, limits)
    return result


def judge(change: Callable[[Tx], object], cpu: float, limits: Limits) -> None:
    """Log when it was slow, refuse when it was far too slow. In CPU time since `cpu`, which this thread's clock said
    shortly before: a busy machine is not its fault. A collection of garbage and what a virtual machine does by itself
    are charged to it all the same, so stores run it once more before they refuse it."""
    if (seconds := time.thread_time() - cpu) <= limits.slow_seconds:
        return
    name = getattr(change, "__qualname__", repr(change))
    if limits.too_slow_seconds is not None and seconds > limits.too_slow_seconds:
        raise TransactionTooSlow(f"{name} held the writer for {seconds * 1000:.0f} ms.", "Do bulk work in chunks.")
    _log.warning("%s held the writer for %.0f ms", name, seconds * 1000)
