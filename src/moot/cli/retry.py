"""`moot retry`: hand out mail again that was given up."""

import click

from moot.api import control, targets
from moot.api.access import access
from moot.api.targets import Target
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, store_option
from moot.core import text


@click.command()
@click.argument("target", required=False)
@instance_option
@store_option
@json_option
def command(*, target: str | None, instance: str | None, store: str | None, as_json: bool) -> None:
    """Try parked mail again, of an agent or of everybody in an instance (TARGET: agent, agent@instance, @instance)."""
    revived = loop.run(_retry(targets.within(target, instance) or Target(None, targets.DEFAULT), store))
    if as_json:
        terminal.document(revived)
        return
    for name, count in revived.items():
        terminal.say(f"{name}: {text.counted(count, 'message')} to be tried again")
    if not revived:
        terminal.say("nothing is parked")


async def _retry(target: Target, store: str | None) -> dict[str, int]:
    async with access("manage", store=store) as opened:
        return await control.retry(opened, target)
