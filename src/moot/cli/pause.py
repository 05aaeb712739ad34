"""`moot pause`: wake nobody until `moot resume`."""

import click

from moot.api import control, targets
from moot.api.access import access
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, store_option
from moot.core.ids import InstanceName
from moot.registry.runs import Run


@click.command()
@click.argument("target", required=False, metavar="[@INSTANCE]")
@instance_option
@store_option
@json_option
def command(*, target: str | None, instance: str | None, store: str | None, as_json: bool) -> None:
    """Wake nobody in an instance's run: who works now finishes, mail waits. moot resume lets it go on."""
    where = targets.instance(target, instance)
    run = loop.run(_pause(where, store))
    if as_json:
        terminal.document({"workflow_id": run.id, "instance": run.instance, "is_paused": True})
    else:
        terminal.say(f"{run.name}@{run.instance} is paused; go on with: {targets.whole('moot resume', run.instance)}")


async def _pause(instance: InstanceName, store: str | None) -> Run:
    async with access("manage", store=store) as opened:
        return await control.pause(opened, instance)
