"""`moot list`: who there is. The quickest command, so it imports as little as it can."""

from collections.abc import Iterable

import click

from moot.api import targets
from moot.api.access import access
from moot.api.roster import Standing, is_served, roster
from moot.cli import hints, loop, terminal
from moot.cli.options import all_option, json_option, only_instance_option, store_option
from moot.core.ids import InstanceName
from moot.store.errors import StoreNotFound

NOBODY = "no agents yet; begin with: moot run FILE, or moot init"
ANSWERED = "nobody but those who have answered: moot list --all"
HEADING = ("NAME", "SOURCE", "STATUS")
LEAST_WIDTHS = (19, 14)


@click.command()
@only_instance_option
@click.option("--workflows", "of_workflows", is_flag=True, help="The workflows that can be run by name instead.")
@all_option
@store_option
@json_option
def command(*, instance: str | None, of_workflows: bool, is_whole: bool, store: str | None, as_json: bool) -> None:
    """Agents and what they do: idle, running or stopped; online, busy or offline for those from outside."""
    if of_workflows:
        _workflows(as_json=as_json)
        return
    try:
        loop.run((_json if as_json else _table)(instance, store, is_whole=is_whole))
    except StoreNotFound:
        if as_json:
            terminal.document([])
        else:
            terminal.say(NOBODY)


async def _table(instance: str | None, store: str | None, *, is_whole: bool) -> None:
    async with access("agent_list", store=store, instance=instance) as opened:
        standings = await roster(opened.store, InstanceName(instance) if instance else None, is_whole=is_whole)
        has_more = not standings and not is_whole and bool(await roster(opened.store))
        has_host = await is_served(opened.store)
    if not standings:
        terminal.say(ANSWERED if has_more else NOBODY)
        return
    rows = [(_name(standing), standing.source or "(standalone)", standing.state) for standing in standings]
    terminal.table([HEADING, *rows], LEAST_WIDTHS)
    _warn(standings, has_host=has_host)


def _warn(standings: Iterable[Standing], *, has_host: bool) -> None:
    """An agent that nobody starts looks idle, and its mail waits."""
    if not has_host and any(standing.needs_host for standing in standings):
        terminal.flush()
        hints.no_host()


def _name(standing: Standing) -> str:
    return targets.agent_in(standing.agent.name, standing.agent.instance)


async def _json(instance: str | None, store: str | None, *, is_whole: bool) -> None:
    from moot.api import plain
    from moot.api.connection import connect

    async with connect("agent_list", store=store, instance=instance) as connection:
        members = await connection.members(InstanceName(instance) if instance else None, is_whole=is_whole)
        has_host = await is_served(connection.store)
    terminal.document([{**plain.member(one), "host_running": has_host} for one in members])
    _warn((one.standing for one in members), has_host=has_host)


def _workflows(*, as_json: bool) -> None:
    from moot.api import checking

    found = checking.by_name()
    if as_json:
        terminal.document([{"name": name, "file": str(file)} for name, file in found.items()])
    elif found:
        terminal.table([("NAME", "FILE"), *((name, str(file)) for name, file in found.items())], LEAST_WIDTHS[:1])
    else:
        terminal.say("no workflows yet; put one into .moot/workflows/")
