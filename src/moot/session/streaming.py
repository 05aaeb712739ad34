"""What a tree of sessions tells, as a stream."""

import asyncio
from collections import deque
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
    told, is_news = deque[Told](), asyncio.Event()

    def tell(agent: str, event: Event) -> None:
        told.append(Told(agent, event))
        is_news.set()

    task = asyncio.ensure_future(perform(tell))
    task.add_done_callback(lambda _: is_news.set())
    try:
        while not task.done() or told:
            while told:
                yield told.popleft()
            is_news.clear()
            if not task.done():
                await is_news.wait()
        yield await task
    finally:
        if task.cancel():
            await asyncio.wait([task])
