"""`moot demo`: three scripted agents fix a bug while you watch; nothing of it stays."""

import click

from moot.api import demo
from moot.api.demo import Failed, Summary
from moot.cli import loop, terminal
from moot.cli.transcript import Transcript
from moot.core import durations

OPENING = "Three scripted agents share a channel on a store in a temporary folder, over a real MCP server.\n"


@click.command()
def command() -> None:
    """Watch scripted agents work together, offline, in a few seconds."""
    terminal.say(OPENING)
    terminal.flush()
    loop.run(_show())


async def _show() -> None:
    transcript = Transcript()
    async for piece in demo.play():
        if isinstance(piece, Failed):
            transcript.aside(f"{piece.agent} failed ({piece.error}); its mail waits and it is tried again")
        elif isinstance(piece, Summary):
            _sum_up(piece)
        else:
            transcript.message(piece)
        terminal.flush()


def _sum_up(summary: Summary) -> None:
    facts = (
        f"done in {durations.spell(summary.duration)}",
        f"{summary.agents} agents",
        f"{summary.messages} messages",
        "$0.00",
    )
    terminal.say("\n", terminal.paint(" · ".join(facts), "bold"))
