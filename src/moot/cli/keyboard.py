"""Lines that a person types while a command shows what happens: each answers what waits longest, or is said."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from moot.api import requests
from moot.api.connection import Connection, connect
from moot.cli import terminal
from moot.core.errors import MootError
from moot.core.ids import InstanceName
from moot.tools.talk import Words


@asynccontextmanager
async def answering(instance: InstanceName, store: str | None) -> AsyncGenerator[None]:
    """While the block runs, what is typed is answered or said in this instance."""
    task = asyncio.ensure_future(_answer(instance, store))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (failure := task.exception()):
            terminal.note(f"what is typed was not read any more: {failure}")


async def _answer(instance: InstanceName, store: str | None) -> None:
    async with connect(store=store, instance=instance, create=True) as connection:
        async for line in _lines():
            try:
                terminal.note(await _say(connection, line))
            except MootError as error:
                terminal.note(f"{error.code}: {error}")


async def _say(connection: Connection, line: str) -> str:
    """To whoever has waited longest, unless the line itself says to whom."""
    waiting = [] if line.lstrip().startswith("@") else await requests.waiting(connection, None, limit=1)
    if waiting:
        return await requests.reply(connection, waiting[0], line)
    said = await connection.send(Words(line))
    return said.told


async def _lines() -> AsyncIterator[str]:
    """What is typed, line by line, without holding up the rest."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Queue[str] = asyncio.Queue()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: typed.put_nowait(sys.stdin.readline()))
    try:
        while line := await typed.get():
            if line.strip():
                yield line.rstrip("\n")
    finally:
        loop.remove_reader(descriptor)
