"""`moot rm`: an instance, for good."""

import sys
from typing import TYPE_CHECKING

import click

from moot.api import removing, targets
from moot.api.access import access
from moot.cli import clearing, loop, terminal
from moot.cli.options import json_option, store_option
from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName

if TYPE_CHECKING:
    from moot.api.workspaces import Retired


@click.command()
@click.argument("instance")
@click.option("--yes", "-y", "is_sure", is_flag=True, help="Do not ask.")
@store_option
@json_option
def command(*, instance: str, is_sure: bool, store: str | None, as_json: bool) -> None:
    """Delete an INSTANCE for good: what was said, written, voted on and done there. Its worktrees are cleared away;
    what is not merged stays on its branches."""
    name = targets.instance(instance)
    if not is_sure:
        loop.run(_check(name, store))
        if not terminal.is_terminal(sys.stdin):
            raise InvalidInput(f"Nobody is there to ask whether {name} may be deleted.", "Say so with --yes.")
        click.confirm(f"Delete {name} with everything in it?", abort=True)
    retired = loop.run(_remove(name, store))
    if as_json:
        terminal.document({"instance": name, "status": "deleted", **clearing.document(retired)})
        return
    terminal.say(f"{name} is deleted")
    clearing.tell(retired)


async def _check(name: InstanceName, store: str | None) -> None:
    """Nobody is asked about what is not there."""
    async with access("manage", store=store, instance=name) as opened:
        await removing.find(opened, name)


async def _remove(name: InstanceName, store: str | None) -> "Retired":
    async with access("manage", store=store, instance=name) as opened:
        return await removing.remove(opened, name)
