"""`moot demo`: three scripted agents fix a bug while you watch; nothing of it stays."""

import click

from moot.api import demo
from moot.cli import loop, play, terminal
from moot.cli.options import json_option

OPENING = "Three scripted agents share a channel on a store in a temporary folder, over a real MCP server.\n"


@click.command()
@json_option
def command(as_json: bool) -> int:
    """Watch scripted agents work together, offline, in a few seconds. With --json one document a line, by its type."""
    if not as_json:
        terminal.say(OPENING)
        terminal.flush()
    return loop.host(play.show(demo.play(), as_json=as_json))
