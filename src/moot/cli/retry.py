"""`moot retry`: hand out mail again that was given up."""

import click

from moot.api import control, targets
from moot.api.access import access
from moot.api.targets import Target
from moot.cli import loop, terminal
from moot.cli.options import json_option, store_option


@click.command()
@click.argument("target", default=f"@{targets.DEFAULT}")
@store_option
@json_option
def command(*, target: str, store: str | None, as_json: bool) -> None:
    """Try parked mail again, of an agent or of everybody in an instance (TARGET: agent, agent@instance, @instance)."""
    revived = loop.run(_retry(targets.parse(target), store))
    if as_json:
        terminal.document(revived)
        return
    for name, count in revived.items():
        terminal.say(f"{name}: {count} message(s) wait again")
    if not revived:
        terminal.say("nothing is parked")


async def _retry(target: Target, store: str | None) -> dict[str, int]:
    async with access(store=store) as opened:
        return await control.retry(opened, target)
