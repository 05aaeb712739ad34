"""`moot resume`: go on with a run that was interrupted, reached a limit, waits or is paused."""

from dataclasses import replace

import click

from moot.api import candidates, control, questions, running, targets
from moot.api.access import access
from moot.api.running import Order
from moot.cli import ask, loop, play, terminal
from moot.cli.options import budget_option, instance_option, json_option, store_option
from moot.core.ids import InstanceName
from moot.core.records import record


@click.command()
@click.argument("target", required=False, metavar="[@INSTANCE]")
@budget_option
@instance_option
@store_option
@json_option
def command(*, target: str | None, budget: str | None, instance: str | None, store: str | None, as_json: bool) -> int:
    """Go on with the last run of an instance where it was; without an instance, with the last run that is not done.

    Nothing that is finished is done again. A paused run goes on where it is attended, and this command returns.
    """
    is_named = target is not None or instance is not None
    order = Order(
        source="",
        mode="run",
        instance=targets.instance(target, instance),
        budget=budget,
        store=store,
        has_person=play.has_person(as_json=as_json),
    )
    found = loop.run(_find(order, is_named=is_named))
    if not is_named and found.instance != order.instance:
        terminal.note(f"goes on with @{found.instance}")
    order = replace(order, instance=found.instance)
    if found.is_unpaused:
        if as_json:
            terminal.document({"instance": order.instance, "is_paused": False})
        else:
            terminal.say(f"{order.instance} goes on")
        return 0
    if found.past is not None:
        return loop.host(ask.show(questions.resume(order, found.past), order, as_json=as_json))
    return loop.host(play.show(running.resume(order), order, as_json=as_json))


@record
class _Found:
    instance: InstanceName
    is_unpaused: bool
    past: int | None  # of a question; None: it is none


async def _find(order: Order, *, is_named: bool) -> _Found:
    async with access("manage", store=order.store) as opened:
        instance = order.instance if is_named else await candidates.to_resume(opened)
        is_unpaused = await control.unpause(opened, instance)
        return _Found(instance, is_unpaused, await questions.past(opened, instance))
