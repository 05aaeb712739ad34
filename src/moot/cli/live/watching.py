"""Watching an instance on a terminal: the conversation as it comes, the view below it, and what is typed there."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from moot.api import watching
from moot.api.connection import Connection
from moot.api.watching import News
from moot.cli import terminal
from moot.cli.keyboard import Orders
from moot.cli.live import glance, screen, taking_part
from moot.cli.live.screen import Keyboard
from moot.cli.live.stage import Stage
from moot.core.errors import MootError
from moot.core.records import record


@record
class Order:
    """How much is shown first, and how a person takes part."""

    last: int  # messages to begin with
    place: AbstractAsyncContextManager[Connection]  # where what is typed is said
    orders: Orders | None = None  # what a line that begins with a slash does


async def watch(opened: Connection, order: Order) -> None:
    """Until the end of the input; for ever, if nobody types."""
    async with _person(order) as person:
        stage = Stage(is_typed=person is not None)
        with screen.taken(Keyboard(stage.heard) if person else None, stage.changed):
            async with asyncio.TaskGroup() as group:
                works = [_talk(stage, opened, person or opened, order.last), stage.keep_drawn()]
                works += [_take_part(stage, person, order.orders)] if person else []
                tasks = [group.create_task(one) for one in works]
                await stage.is_left.wait()
                for one in tasks:
                    one.cancel()


@asynccontextmanager
async def _person(order: Order) -> AsyncGenerator[Connection | None]:
    """Who types, if anybody can and may."""
    async with contextlib.AsyncExitStack() as stack:
        person = None
        if terminal.is_terminal(sys.stdin):
            try:
                person = await stack.enter_async_context(order.place)
            except MootError as error:
                terminal.note(f"nothing can be typed here: {error}")
        yield person


async def _talk(stage: Stage, opened: Connection, person: Connection, last: int) -> None:
    """What still waits for an answer comes first, however long ago it was asked."""
    for message in await glance.asked_before(person, last):
        stage.tell(message)
    async with asyncio.TaskGroup() as group:
        group.create_task(_look(stage, opened, person))
        async for piece in watching.watch(opened, opened.caller.instance, last):
            if isinstance(piece, News):
                stage.aside(piece.text)
            else:
                stage.tell(piece)


async def _look(stage: Stage, opened: Connection, person: Connection) -> None:
    async for one in glance.follow(opened, person):
        stage.see(one)


async def _take_part(stage: Stage, person: Connection, orders: Orders | None) -> None:
    while True:
        entered = await stage.entered.get()
        if not await taking_part.take_part(person, entered, orders) and entered.need is not None:
            stage.attention.not_done(entered.need)
        stage.changed()
