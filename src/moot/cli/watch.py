"""`moot watch`: an instance as it happens; what is typed is said there."""

import asyncio
import sys
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager

import click

from moot.api import plain, targets, watching
from moot.api.access import wait_for_store
from moot.api.connection import Connection, connect
from moot.api.watching import News
from moot.bus.messages import Message
from moot.cli import audience, hints, keyboard, loop, terminal
from moot.cli.keyboard import Orders
from moot.cli.options import instance_option, json_option, limit_option, store_option
from moot.cli.transcript import Transcript
from moot.core import clock
from moot.core.ids import InstanceName, MessageId


@click.command()
@click.argument("target", required=False, metavar="[@INSTANCE]")
@limit_option(10, "Begin with the last N messages.")
@instance_option
@store_option
@json_option
def command(*, target: str | None, limit: int, instance: str | None, store: str | None, as_json: bool) -> None:
    """Show what is said and who works, until Ctrl-C or Ctrl-D.

    On a terminal there is a view below it: what needs you, who is on what, how far plans and steps are, what it costs.
    A line that you type answers what is shown there, or is said to whom it mentions. Tab turns to the next thing that
    needs you. Elsewhere there are only lines; with --json one document a line.
    """
    where = targets.instance(target, instance)
    loop.run(_watch(where, limit, store, as_json=as_json))


async def _watch(instance: InstanceName, limit: int, store: str | None, *, as_json: bool) -> None:
    await wait_for_store(store, hints.no_store)
    async with connect("channel_read", store=store, instance=instance, waits=True) as opened:
        if as_json:
            await audience.while_read(_show(opened, limit, set(), as_json=True))
        else:
            await take_part(opened, limit, connect("channel_send", store=store, instance=instance, create=True))


async def take_part(
    opened: Connection, limit: int, place: AbstractAsyncContextManager[Connection], orders: Orders | None = None
) -> None:
    """Show it as it happens: on a terminal with a view below, else as lines. What is typed is said in the place."""
    if terminal.can_redraw() and terminal.shows_signs():
        from moot.cli.live import watching as live  # brings rich along, which lines do not need

        await _wait(opened)
        await live.watch(opened, live.Order(limit, place, orders))
        return
    shown = set[MessageId]()
    show = audience.while_read(_show(opened, limit, shown, as_json=False))
    if not terminal.is_terminal(sys.stdin):
        await show
        return
    async with keyboard.answering(place, shown, orders=orders) as typed:
        await _while_typed(show, typed)


async def _while_typed(show: Coroutine[None, None, None], typed: "asyncio.Future[None]") -> None:
    """Until one of both has ended: what is shown, or what is typed (Ctrl-D)."""
    async with asyncio.TaskGroup() as group:
        showing = group.create_task(show)
        await asyncio.wait([typed, showing], return_when=asyncio.FIRST_COMPLETED)
        if typed.done() and not typed.exception():
            showing.cancel()


async def _wait(opened: Connection) -> None:
    if not await opened.exists():
        terminal.note(f"There is no instance {opened.caller.instance!r} yet. Waiting for it; Ctrl-C ends this.")
        await opened.stream()


async def _show(opened: Connection, limit: int, shown: set[MessageId], *, as_json: bool) -> None:
    await _wait(opened)
    transcript = Transcript()
    async for piece in watching.watch(opened, opened.caller.instance, limit):
        if as_json:
            terminal.line(_plain(piece))
        elif isinstance(piece, News):
            transcript.aside(piece.text)
        else:
            transcript.message(piece)
            shown.add(piece.id)
        terminal.flush()


def _plain(piece: Message | News) -> plain.Plain:
    if isinstance(piece, News):
        return {"type": "news", "timestamp": clock.to_iso(piece.at), "text": piece.text}
    return {"type": "message", **plain.message(piece)}
