"""`moot watch`: an instance as it happens; what is typed is said there."""

import asyncio
import sys
from collections.abc import Coroutine

import click

from moot.api import plain, targets, watching
from moot.api.access import wait_for_store
from moot.api.connection import Connection, connect
from moot.api.watching import News
from moot.bus.messages import Message
from moot.cli import audience, hints, keyboard, loop, terminal
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
    """Show what is said and who works, until Ctrl-C or Ctrl-D. On a terminal, a line you type answers what waits for
    you, or is said to whom it mentions. With --json one document a line."""
    where = targets.instance(target, instance)
    loop.run(_watch(where, limit, store, as_json=as_json))


async def _watch(instance: InstanceName, limit: int, store: str | None, *, as_json: bool) -> None:
    await wait_for_store(store, hints.no_store)
    async with connect("channel_read", store=store, instance=instance, waits=True) as opened:
        shown = set[MessageId]()
        show = audience.while_read(show_all(opened, instance, limit, shown, as_json=as_json))
        if as_json or not terminal.is_terminal(sys.stdin):
            await show
            return
        place = connect("channel_send", store=store, instance=instance, create=True)
        async with keyboard.answering(place, shown) as typed:
            await while_typed(show, typed)


async def while_typed(show: Coroutine[None, None, None], typed: "asyncio.Future[None]") -> None:
    """Until one of both has ended: what is shown, or what is typed (Ctrl-D)."""
    async with asyncio.TaskGroup() as group:
        showing = group.create_task(show)
        await asyncio.wait([typed, showing], return_when=asyncio.FIRST_COMPLETED)
        if typed.done() and not typed.exception():
            showing.cancel()


async def show_all(
    opened: Connection, instance: InstanceName, limit: int, shown: set[MessageId], *, as_json: bool
) -> None:
    if not await opened.exists():
        terminal.note(f"There is no instance {instance!r} yet. Waiting for it; Ctrl-C ends this.")
        await opened.stream()
    transcript = Transcript()
    async for piece in watching.watch(opened, instance, limit):
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
