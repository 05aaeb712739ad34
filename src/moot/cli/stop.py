"""`moot stop`: a run or an agent, at a safe point."""

import click

from moot.api import candidates, control, targets
from moot.api.access import access
from moot.api.control import Stopped
from moot.api.targets import Target
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, store_option
from moot.store.errors import StoreNotFound


@click.command()
@click.argument("target", required=False)
@click.option("--all", "everything", is_flag=True, help="Every run and every agent.")
@click.option("--now", is_flag=True, help="Do not let running attempts finish; their mail waits.")
@instance_option
@store_option
@json_option
def command(
    *, target: str | None, everything: bool, now: bool, instance: str | None, store: str | None, as_json: bool
) -> None:
    """Stop a run or an agent. TARGET is agent, agent@instance or @instance; without it, the only one there is.

    What was said and written stays. A stopped agent keeps its mail until it is run again.
    """
    wanted = targets.within(target, instance)
    if everything and wanted:
        raise click.UsageError("--all stops everything; leave the target out.")
    try:
        stopped = loop.run(_stop(wanted, everything=everything, now=now, store=store))
    except StoreNotFound:
        if wanted:
            raise
        stopped = []
    if as_json:
        terminal.document([{"name": one.name, "is_run": one.is_run, "is_attended": one.is_attended} for one in stopped])
        return
    for one in stopped:
        terminal.say(_spelled(one, now=now))
    if not stopped:
        terminal.say("nothing is running")


async def _stop(target: Target | None, *, everything: bool, now: bool, store: str | None) -> list[Stopped]:
    how = "now" if now else "safely"
    async with access("manage", store=store) as opened:
        if everything:
            return await control.stop_all(opened, how)
        meant = target or await candidates.to_stop(opened)
        return [] if meant is None else await control.stop(opened, meant, how)


def _spelled(stopped: Stopped, *, now: bool) -> str:
    if stopped.is_run and stopped.is_attended and not now:
        return f"{stopped.name} stops when its agents have finished what they are doing"
    return f"{stopped.name} stopped"
