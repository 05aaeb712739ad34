"""`moot resume`: go on with a run that was interrupted, reached a limit, waits or is paused."""

import click

from moot.api import control, running, targets
from moot.api.access import access
from moot.api.running import Order
from moot.cli import loop, play, terminal
from moot.cli.options import budget_option, instance_option, json_option, store_option


@click.command()
@click.argument("target", required=False, metavar="[@INSTANCE]")
@budget_option
@instance_option
@store_option
@json_option
def command(*, target: str | None, budget: str | None, instance: str | None, store: str | None, as_json: bool) -> int:
    """Go on with the last run of an instance where it was.

    Nothing that is finished is done again. A paused run goes on where it is attended, and this command returns.
    """
    order = Order(
        source="",
        mode="run",
        instance=targets.instance(target, instance),
        budget=budget,
        store=store,
        has_person=play.has_person(as_json=as_json),
    )
    if loop.run(_unpause(order)):
        if as_json:
            terminal.document({"instance": order.instance, "is_paused": False})
        else:
            terminal.say(f"{order.instance} goes on")
        return 0
    return loop.run(play.show(running.resume(order), order, as_json=as_json))


async def _unpause(order: Order) -> bool:
    async with access("manage", store=order.store) as opened:
        return await control.unpause(opened, order.instance)
