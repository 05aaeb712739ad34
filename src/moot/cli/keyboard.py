"""Lines that a person types while a command shows what happens: each answers what was shown and waits longest, or is
said."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from moot.api import requests, roster
from moot.api.connection import Connection
from moot.api.needs import Need
from moot.cli import hints, saying, terminal
from moot.core.errors import MootError
from moot.core.ids import MessageId
from moot.tools.talk import Words

Enter = Callable[[Connection], Awaitable[None]]
Orders = Callable[[Connection, str], Awaitable[str]]


@asynccontextmanager
async def answering(
    place: AbstractAsyncContextManager[Connection],
    shown: Collection[MessageId],
    begins: asyncio.Event | None = None,
    enter: Enter | None = None,
    orders: Orders | None = None,
) -> AsyncGenerator["asyncio.Future[None]"]:
    """While the block runs, what is typed answers one of the messages `shown` so far, or is said in this place; done at
    the end of the input. What is typed before it `begins` waits: nobody has asked yet, and nobody is there to hear
    it. A line with nothing in it does what `enter` says, one that begins with a slash what `orders` do."""
    task = asyncio.ensure_future(_answer(place, shown, begins, enter, orders))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (failure := task.exception()):
            terminal.note(f"what is typed was not read any more: {failure}")


async def _answer(
    place: AbstractAsyncContextManager[Connection],
    shown: Collection[MessageId],
    begins: asyncio.Event | None,
    enter: Enter | None,
    orders: Orders | None,
) -> None:
    if begins is not None:
        await begins.wait()
    async with place as connection:
        async for line in _lines():
            try:
                if line.startswith("/") and orders is not None:
                    terminal.note(await orders(connection, line))
                elif line.strip():
                    await _say(connection, line, shown)
                elif enter is not None:
                    await enter(connection)
                elif await _may_be_empty(connection, shown):
                    await _say(connection, "", shown)
            except MootError as error:
                terminal.note(f"{error.code}: {error}")


async def _may_be_empty(connection: Connection, shown: Collection[MessageId]) -> bool:
    """Whether an empty line is an answer: to a question that has one already, unless somebody wants another."""
    waiting = await requests.longest(connection, shown)
    return waiting is not None and waiting.request is not None and waiting.request.may_be_empty


async def _say(connection: Connection, line: str, shown: Collection[MessageId]) -> None:
    """To whoever has waited longest, unless the line itself says to whom."""
    waiting = None if line.lstrip().startswith("@") else await requests.longest(connection, shown)
    if waiting is not None:
        await answer(connection, await requests.need_of(connection, waiting), line)
    else:
        await say(connection, line)


async def answer(connection: Connection, need: Need, line: str) -> None:
    """And tell what came of it."""
    is_served = await roster.is_served(connection.store)
    terminal.note(await requests.settle(connection, need, line))
    if not is_served:
        hints.no_host()


async def say(connection: Connection, line: str) -> None:
    """To whom it mentions, and tell who hears it."""
    is_served = await roster.is_served(connection.store)
    said = await connection.send(Words(line))
    terminal.note(said.told)
    await saying.warn(connection, said, is_served=is_served)


async def _lines() -> AsyncIterator[str]:
    """What is typed, line by line, without holding up the rest."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Queue[str] = asyncio.Queue()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: typed.put_nowait(sys.stdin.readline()))
    try:
        while line := await typed.get():
            yield line.rstrip("\n")
    finally:
        loop.remove_reader(descriptor)
