"""`moot retry`: hand out mail again that was given up."""

import click

from moot.api import candidates, control, targets
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
    """Try again what was given up: parked mail of an agent or of everybody in an instance, and its failed tasks.
    TARGET is agent, agent@instance or @instance; without one, where the last run is that gave something up."""
    meant, revived = loop.run(_retry(targets.within(target, instance), store))
    if as_json:
        terminal.document(revived)
        return
    for name, count in revived.items():
        if name.startswith("task "):
            terminal.say(f"{name} is to be tried again")
            continue
        told = name if target or instance else targets.agent_in(name, meant.instance)
        terminal.say(f"{told}: {text.counted(count, 'message')} to be tried again")
    if not revived:
        terminal.say("nothing was given up")


async def _retry(target: Target | None, store: str | None) -> tuple[Target, dict[str, int]]:
    async with access("manage", store=store) as opened:
        meant = target or Target(None, await candidates.to_retry(opened))
        return meant, await control.retry(opened, meant)
