"""`moot watch`: an instance as it happens; what is typed is said there."""

import contextlib
import sys

import click

from moot.api import targets, watching
from moot.api.access import access
from moot.api.watching import News
from moot.cli import keyboard, loop, terminal
from moot.cli.options import limit_option, store_option
from moot.cli.transcript import Transcript
from moot.core.ids import InstanceName


@click.command()
@click.argument("instance", default=str(targets.DEFAULT))
@limit_option(10, "Begin with the last N messages.")
@store_option
def command(*, instance: str, limit: int, store: str | None) -> None:
    """Show what is said and who works, until Ctrl-C. On a terminal, a line you type answers what waits for you, or is
    said to whom it mentions."""
    where = targets.instance(instance)
    loop.run(_watch(where, limit, store))


async def _watch(instance: InstanceName, limit: int, store: str | None) -> None:
    is_typed = terminal.is_terminal(sys.stdin)
    typing = keyboard.answering(instance, store) if is_typed else contextlib.nullcontext()
    async with access(store=store, instance=instance) as opened, typing:
        transcript = Transcript()
        async for piece in watching.watch(opened, instance, limit):
            if isinstance(piece, News):
                transcript.aside(piece.text)
            else:
                transcript.message(piece)
            terminal.flush()
