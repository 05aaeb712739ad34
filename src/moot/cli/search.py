"""`moot search`: messages and documents by their words."""

from typing import get_args

import click

from moot.api import search as searching
from moot.api.access import access
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, limit_option, store_option
from moot.cli.terminal import paint
from moot.cli.transcript import by_sender, date_and_time
from moot.search.search import Found, FoundDocument, Where
from moot.store.errors import StoreNotFound

PLACES: tuple[Where, ...] = get_args(Where)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--in", "where", type=click.Choice(PLACES), default="everything", show_default=True, help="What to search."
)
@limit_option(20, "At most so many, the newest first.")
@instance_option
@store_option
@json_option
def command(
    *, words: tuple[str, ...], where: Where, limit: int, instance: str | None, store: str | None, as_json: bool
) -> int:
    """Find messages and documents that have all of these WORDS.

    "a phrase" stands as it is, -word must not occur, begin* is how a word begins. As with grep, the exit code
    is 1 if nothing is found.
    """
    try:
        found = loop.run(_search(" ".join(words), where, limit, instance, store))
    except StoreNotFound:
        found = []
    if as_json:
        terminal.document([searching.plain(one) for one in found])
    for one in found if not as_json else ():
        _show(one)
    if not found:
        terminal.note("nothing found")
    return 0 if found else 1


async def _search(words: str, where: Where, limit: int, instance: str | None, store: str | None) -> list[Found]:
    async with access("channel_search", store=store, instance=instance) as opened:
        return await searching.search(opened, words, where=where, limit=limit)


def _show(one: Found) -> None:
    if isinstance(one, FoundDocument):
        name, place = one.author, f"{one.file} (version {one.version})"
    else:
        name, place = one.sender, one.id
    when = paint(date_and_time(one.at), "dim")
    terminal.say(when, " ", by_sender(name), "  ", paint(terminal.one_line(place), "dim"))
    terminal.say("  ", terminal.one_line(one.snippet))
