"""`moot hook`: what Claude Code shows of unread mail when a conversation begins and before each prompt.

It reads the moment as JSON from standard input and answers in JSON. A prompt must not fail because of mail: whatever
goes wrong here, it says nothing and ends well.
"""

import os
import sys

import click

from moot.cli import loop, terminal
from moot.cli.options import store_option


@click.command()
@store_option
def command(store: str | None) -> None:
    """For the hooks of Claude Code (moot init writes them): tell the conversation what waits for you."""
    if os.environ.get("MOOT_TOKEN"):  # an agent that moot has started is handed its mail
        return
    try:
        from moot.api import hooks

        told = loop.run(hooks.news(sys.stdin.read(), store))
    except Exception:  # noqa: BLE001  # the boundary to another program, in the middle of its prompt
        return
    if told is not None:
        terminal.line(told)
