"""`moot ui`: the live page, until Ctrl-C."""

import os
import sys
import webbrowser

import click

from moot.api import viewing
from moot.api.access import Inside, access, wait_for_store
from moot.api.viewing import View
from moot.cli import hints, loop, terminal
from moot.cli.options import instance_option, json_option, store_option
from moot.registry import names


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="On 127.0.0.1.  [default: any free one]")
@click.option("--host", default="127.0.0.1", hidden=True)
@click.option("--read-only", "is_read_only", is_flag=True, help="Make a link for those who only watch.")
@click.option("--no-open", is_flag=True, help="Print the link, and start no browser.")
@click.option("--sign-out", is_flag=True, help="End all visits and links that were given out, and do no more.")
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    port: int,
    host: str,
    is_read_only: bool,
    no_open: bool,
    sign_out: bool,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Show the live page: what needs you, who works on what, what it costs, and all that was said. It runs no agents.

    The link that it prints is good for one browser and 15 minutes. With --read-only it is good for a day, for
    everybody who has it, and nothing can be changed by it.
    """
    if sign_out:
        loop.run(_sign_out(store))
        return
    view = View(host, port, is_read_only)
    opens = not (no_open or as_json or is_read_only) and sys.stdout.isatty()
    loop.host(_show(view, instance, store, opens=opens, as_json=as_json))


async def _show(view: View, instance: str | None, store: str | None, *, opens: bool, as_json: bool) -> None:
    if instance is not None:
        names.check_instance(instance)  # before anything is waited for
    if Inside.found(os.environ) is None:
        await wait_for_store(store, hints.no_store)
    async with access("manage", store=store, instance=instance, waits=True) as opened:
        await viewing.serve(opened, view, lambda link: _say(link, view, opens=opens, as_json=as_json))


def _say(link: str, view: View, *, opens: bool, as_json: bool) -> None:
    if as_json:
        terminal.document({"url": link, "read_only": view.is_read_only})
    elif view.is_read_only:
        terminal.say(f"to watch, for a day: {link}")
    else:
        terminal.say(f"open within 15 minutes, once: {link}")
    terminal.flush()
    if opens:
        webbrowser.open(link)


async def _sign_out(store: str | None) -> None:
    async with access("manage", store=store) as opened:
        ended = await viewing.sign_out(opened)
        terminal.say(f"visits and links that were ended: {ended}")
