"""What a tree of sessions tells, as a stream."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from moot.core.records import record
from moot.session.events import Event
from moot.session.report import Report

Tell = Callable[[str, Event], None]


@record
class Told:
    """An event, and the agent it is about."""

    agent: str
    event: Event


async def stream(perform: Callable[[Tell], Awaitable[Report]]) -> AsyncGenerator[Told | Report]:
    """Everything it tells, as it comes, and last its report. Closing the stream ends what is under way."""
    queue: asyncio.Queue[Told | None] = asyncio.Queue()

    async def work() -> Report:
        try:
            return await perform(lambda agent, event: queue.put_nowait(Told(agent, event)))
        finally:
            queue.put_nowait(None)

    task = asyncio.ensure_future(work())
    try:
        while (told := await queue.get()) is not None:
            yield told
        yield await task
    finally:
        task.cancel()
        await asyncio.wait([task])
