"""`moot retry`: hand out mail again that was given up."""

import click

from moot.api import candidates, parked, targets
from moot.api.access import access
from moot.api.targets import Target
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, store_option
from moot.core import text
from moot.core.errors import InvalidInput
from moot.core.ids import MessageId

_MESSAGE = "ms_"


@click.command()
@click.argument("target", required=False)
@click.option("--drop", is_flag=True, help="Nobody is to read this message any more.")
@instance_option
@store_option
@json_option
def command(*, target: str | None, drop: bool, instance: str | None, store: str | None, as_json: bool) -> None:
    """Try again what was given up: parked mail of an agent or of everybody in an instance, and its failed tasks.
    TARGET is agent, agent@instance or @instance; without one, where the last run is that gave something up. Or it is
    a single message, by its id: the others stay where they are."""
    if target is not None and target.startswith(_MESSAGE):
        _one(MessageId(target), drop=drop, store=store, as_json=as_json)
        return
    if drop:
        raise InvalidInput("--drop is for a single message.", "Name it: moot inbox NAME shows ids.")
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


def _one(id: MessageId, *, drop: bool, store: str | None, as_json: bool) -> None:
    names = loop.run(_carry_out(id, store, drop=drop))
    if as_json:
        terminal.document(dict.fromkeys(names, 1))
        return
    terminal.say(f"{', '.join(names)}: {id} {'is dropped' if drop else 'is to be tried again'}")


async def _carry_out(id: MessageId, store: str | None, *, drop: bool) -> list[str]:
    async with access("manage", store=store) as opened:
        return await (parked.drop_message(opened, id) if drop else parked.retry_message(opened, id))


async def _retry(target: Target | None, store: str | None) -> tuple[Target, dict[str, int]]:
    async with access("manage", store=store) as opened:
        meant = target or Target(None, await candidates.to_retry(opened))
        return meant, await parked.retry(opened, meant)
