"""Writes of which their caller learns what became of them, also if it is cancelled while they are made: they may be
committed all the same."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def result(writing: Awaitable[T], late: Callable[[T], Awaitable[None] | None]) -> T:
    """Whoever is cancelled meanwhile does `late` with what was committed, before it ends."""
    future = asyncio.ensure_future(writing)
    try:
        return future.result() if future.done() else await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        if not future.cancelled() and future.exception() is None and (done := late(future.result())) is not None:
            await done
        raise
