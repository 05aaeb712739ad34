"""A body that comes in pieces."""

import asyncio
from collections.abc import Iterable

from starlette.types import Message, Receive


def chunks(parts: Iterable[Message]) -> Receive:
    waiting = iter(parts)

    async def receive() -> Message:
        await asyncio.sleep(0)
        return next(waiting)

    return receive
