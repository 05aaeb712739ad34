"""`moot demo`: three scripted agents fix a bug while you watch; nothing of it stays."""

import click

from moot.api import demo, plain
from moot.api.demo import Failed, Summary
from moot.bus.messages import Message
from moot.cli import loop, terminal
from moot.cli.options import json_option
from moot.cli.transcript import Transcript
from moot.core import durations

OPENING = "Three scripted agents share a channel on a store in a temporary folder, over a real MCP server.\n"


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Watch scripted agents work together, offline, in a few seconds. With --json one document a line, by its kind."""
    if not as_json:
        terminal.say(OPENING)
        terminal.flush()
    loop.run(_print() if as_json else _show())


async def _print() -> None:
    async for piece in demo.play():
        terminal.line(_plain(piece))
        terminal.flush()


def _plain(piece: Message | Failed | Summary) -> plain.Plain:
    match piece:
        case Message():
            return plain.message(piece)
        case Failed():
            return {"kind": "attempt_failed", "agent": piece.agent, "error": piece.error, "number": piece.number}
        case Summary():
            return {
                "kind": "summary",
                "agents": piece.agents,
                "messages": piece.messages,
                "seconds": round(piece.duration.total_seconds(), 3),
                "cost": 0,
            }


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
