"""`moot mcp`: what an MCP client starts to take part; speaks MCP on standard input and output."""

import sys

import click

from moot.api import joining, targets
from moot.cli import loop
from moot.cli.options import instance_option, store_option, tool_names_option
from moot.core.errors import InvalidInput
from moot.registry.errors import NameRefused
from moot.tools import groups


@click.command()
@click.option("--as", "who", metavar="AGENT[@INSTANCE]", help="Take part as this agent.  [default: as the operator]")
@click.option("--tools", metavar="GROUPS", help=f"Offer only these groups: {', '.join(groups.NAMES)}.")
@tool_names_option
@instance_option
@store_option
def command(
    *, who: str | None, tools: str | None, tool_names: str | None, instance: str | None, store: str | None
) -> None:
    """Connect an agent over MCP, for example from Claude Code:

    \b
        claude mcp add moot -- moot mcp --as reviewer

    Where no host runs, this process serves and reacts itself until the client is gone. Without --as, the client acts
    for you: it may use every tool, and register agents of its own.
    """
    target = targets.parse(who or "", instance=instance or targets.DEFAULT)
    if who is not None and target.agent is None:  # an unset $NAME must not make an operator
        raise NameRefused("--as names no agent.", "Write --as NAME or NAME@INSTANCE, or leave it out.")
    if sys.stdin is None or sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed before the start
        raise InvalidInput("There is no standard input and output to speak MCP on.", "Let an MCP client start this.")
    loop.host(
        joining.join(
            store=store,
            agent=target.agent,
            instance=target.instance,
            groups=None if tools is None else groups.parse(tools),
            spelling=tool_names,
        )
    )
