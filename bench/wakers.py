"""Worker processes for waking: one sends the time in a message, the other says how old it is with the row in hand."""

import asyncio
import time
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path

from bench import loops, postgres, sending
from bench.crew import Job, Order, Result
from bench.sending import Channel
from moot.api.connection import messages_of
from moot.core.events import Cursor
from moot.store import feed


def age(body: str) -> float:
    return (time.monotonic_ns() - int(body)) / 1e9


@contextmanager
def moot_sender(setup: Order) -> Generator[Job]:
    with loops.runner() as runner:
        channel = runner.run(sending.open_channel(Path(setup["folder"])))

        async def sends(count: int, pause: float) -> None:
            for _ in range(count):
                await asyncio.sleep(pause)
                await channel.send(str(time.monotonic_ns()))

        def job(order: Order) -> Result:
            runner.run(sends(order["count"], order["pause"]))
            return {}

        yield job
        runner.run(channel.store.close())


@contextmanager
def moot_reader(setup: Order) -> Generator[Job]:
    """Follows the stream's feed, or with `poll` looks for news at a fixed interval."""
    with loops.runner() as runner:
        channel = runner.run(sending.open_channel(Path(setup["folder"])))
        end = runner.run(channel.store.read(lambda tx: feed.end(tx, channel.stream)))
        bodies = _polled(channel, end, setup["poll"]) if "poll" in setup else _followed(channel, end)

        async def ages(count: int) -> list[float]:
            return [age(await anext(bodies)) for _ in range(count)]

        def job(order: Order) -> Result:
            return {"ages": runner.run(ages(order["count"]))}

        yield job
        runner.run(_ended(bodies))
        runner.run(channel.store.close())


async def _followed(channel: Channel, after: Cursor) -> AsyncIterator[str]:
    async for page in channel.store.feed(channel.stream).follow(after):
        for message in await channel.store.read(lambda tx, page=page: messages_of(tx, page)):
            yield message.body


async def _polled(channel: Channel, after: Cursor, interval: float) -> AsyncIterator[str]:
    while True:
        await asyncio.sleep(interval)
        page = await channel.store.feed(channel.stream).page(after)
        after = page.cursor
        for message in await channel.store.read(lambda tx, page=page: messages_of(tx, page)):
            yield message.body


async def _ended(bodies: AsyncIterator[str]) -> None:
    close = getattr(bodies, "aclose", None)
    if close is not None:
        await close()


@contextmanager
def postgres_sender(setup: Order) -> Generator[Job]:
    with postgres.connect(setup["uri"]) as connection:

        def job(order: Order) -> Result:
            prefix = f"ms_{time.monotonic_ns()}_"
            for number in range(order["count"]):
                time.sleep(order["pause"])
                postgres.send(connection, f"{prefix}{number}", str(time.monotonic_ns()))
            return {}

        yield job


@contextmanager
def postgres_reader(setup: Order) -> Generator[Job]:
    """Listens on one connection and reads the rows on it: nothing to wake up but itself."""
    with postgres.connect(setup["uri"]) as connection:
        connection.execute("listen sent")
        last = 0

        def job(order: Order) -> Result:
            nonlocal last
            ages: list[float] = []
            while len(ages) < order["count"]:
                for _ in connection.notifies(timeout=10, stop_after=1):
                    pass
                for seq, body in postgres.after(connection, last):
                    ages.append(age(body))
                    last = seq
            return {"ages": ages}

        yield job
