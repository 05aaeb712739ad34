"""`moot context`: the channel for programs that speak no MCP, as an agent that joins from outside."""

from functools import partial
from typing import TYPE_CHECKING

import click

from moot.api import people, plain, targets
from moot.api.connection import connect
from moot.api.targets import Target
from moot.cli import inside, terminal
from moot.cli.options import json_option, limit_option, store_option
from moot.tools.talk import Words

if TYPE_CHECKING:
    from moot.api.distant import Distant

agent_option = click.option(
    "--agent",
    required=True,
    envvar="MOOT_AGENT",
    show_envvar=True,
    metavar="AGENT",
    help="Whose words: agent or agent@instance.",
)


@click.group()
def command() -> None:
    """Speak and read in the channel as an agent from outside that cannot use MCP."""


@command.command()
@click.argument("message")
@agent_option
@store_option
@json_option
def send(*, message: str, agent: str, store: str | None, as_json: bool) -> None:
    """Say something."""
    target = targets.parse(agent, instance=targets.home())
    inside.run(_send(message, target, store), partial(_send_distant, message, target))
    if as_json:
        terminal.document({"status": "sent"})
    else:
        terminal.say("sent")


@command.command()
@agent_option
@limit_option(50, "The last N.")
@store_option
@json_option
def read(*, agent: str, limit: int, store: str | None, as_json: bool) -> None:  # it prints nothing else
    """What was said, as JSON with the names that channel_read uses."""
    target = targets.parse(agent, instance=targets.home())
    terminal.document(inside.run(_read(target, limit, store), partial(_read_distant, target, limit)))


async def _send(message: str, target: Target, store: str | None) -> None:
    async with connect("channel_send", store=store, instance=target.instance) as opened:
        connection = await people.speaking_for(opened, target.agent or "", "channel_send")
        await connection.send(Words(message))


async def _send_distant(message: str, target: Target, distant: "Distant") -> None:
    distant.check(target.instance, target.agent)
    await distant.send(Words(message))


async def _read(target: Target, limit: int, store: str | None) -> list[plain.Plain]:
    async with connect("channel_read", store=store, instance=target.instance) as opened:
        connection = await people.speaking_for(opened, target.agent or "", "channel_read")
        return [plain.message(one) for one in await connection.latest(limit)]


async def _read_distant(target: Target, limit: int, distant: "Distant") -> list[plain.Plain]:
    distant.check(target.instance, target.agent)
    return [plain.message(one) for one in await distant.latest(limit)]
