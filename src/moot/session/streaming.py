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
    told, loop = deque[Told](), asyncio.get_running_loop()
    news: asyncio.Future[None] = loop.create_future()  # one for each wait: an event would make it, and more

    def tell(agent: str, event: Event) -> None:
        told.append(Told(agent, event))
        wake()

    def wake(_: object = None) -> None:
        if not news.done():
            news.set_result(None)

    task = asyncio.ensure_future(perform(tell))
    task.add_done_callback(wake)
    try:
        while not task.done() or told:
            while told:
                yield told.popleft()
            if not task.done():
                news = loop.create_future()
                await news
        yield await task
    finally:
        if task.cancel():
            await asyncio.wait([task])
