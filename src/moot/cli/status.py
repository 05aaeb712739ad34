"""`moot status`: who does what, who waits for whom, and why nothing moves."""

import sys
from collections.abc import Sequence

import click

from moot.api import status, targets
from moot.api.access import access, wait_for_store
from moot.api.status import Doing, Status
from moot.cli import audience, flow_lines, hints, loop, terminal
from moot.cli.options import all_option, json_option, only_instance_option, store_option
from moot.cli.plan import bar
from moot.core import durations
from moot.core.ids import InstanceName
from moot.store.errors import StoreNotFound

NOTHING = "nothing has happened here yet; begin with: moot run FILE"
NOTHING_ELSE = "nothing goes on here; begin with: moot run FILE (questions that were answered: --all)"


@click.command()
@click.argument("target", required=False, metavar="[@INSTANCE]")
@click.option("--follow", "-f", "is_followed", is_flag=True, help="Go on showing it as it changes, until Ctrl-C.")
@only_instance_option
@all_option
@store_option
@json_option
def command(
    *, target: str | None, is_followed: bool, instance: str | None, is_whole: bool, store: str | None, as_json: bool
) -> None:
    """Who does what, how far plans have come, who waits for whom, and why nothing moves; in one instance or in all."""
    only = targets.instance(target, instance) if target or instance else None
    if is_followed:
        loop.run(audience.while_read(_follow(only, store, is_whole=is_whole, as_json=as_json)))
        return
    try:
        found = loop.run(_look(only, store, is_whole=is_whole))
    except StoreNotFound:
        found, is_whole = [], True
    if as_json:
        terminal.document([status.document(one) for one in found])
    else:
        _show_all(found, is_whole=is_whole)


async def _look(only: InstanceName | None, store: str | None, *, is_whole: bool) -> list[Status]:
    async with access("agent_list", store=store) as opened:
        return await status.of_all(opened, only, is_whole=is_whole)


async def _follow(only: InstanceName | None, store: str | None, *, is_whole: bool, as_json: bool) -> None:
    await wait_for_store(store, hints.no_store)
    async with access("agent_list", store=store, waits=True) as opened:
        async for found in status.follow(opened, only, is_whole=is_whole):
            if as_json:
                terminal.line([status.document(one) for one in found])
            else:
                terminal.say(terminal.FRESH if terminal.is_terminal(sys.stdout) else "")
                _show_all(found, is_whole=is_whole)
            terminal.flush()


def _show_all(found: Sequence[Status], *, is_whole: bool) -> None:
    for one in found:
        show(one)
    if not found:
        terminal.say(NOTHING if is_whole else NOTHING_ELSE)


def show(one: Status) -> None:
    run = one.run
    about = "no run" if run is None else f"{run.name}  {run.state}" + (f", {run.phase}" if run.state == "live" else "")
    terminal.say(terminal.paint(one.instance.name, "bold"), f"  {about}")
    for tally in one.plans:
        terminal.say(f"  {bar(tally)}  {tally.board.name}, {tally.board.status}")
    for flow in one.flows:
        for line in flow_lines.moving(flow):
            terminal.say("  ", line)
    rows = [(f"  {doing.agent.name}", doing.state, _mail(doing), _work(doing)) for doing in one.agents]
    terminal.table(rows, (12, 8, 0))
    for reason in one.reasons:
        terminal.say("  ", terminal.paint("! ", "yellow"), reason.replace("\n", "\n    "))


def _mail(doing: Doing) -> str:
    parked = f", {doing.parked} parked" if doing.parked else ""
    return f"{doing.unread} unread{parked}" if doing.unread or parked else ""


def _work(doing: Doing) -> str:
    on = f"on {', '.join(doing.tasks)}" if doing.tasks else ""
    if doing.attempt is None or doing.since is None:
        return on
    again = f", attempt {doing.attempt}" if doing.attempt > 1 else ""
    return f"{on} for {durations.spell(doing.since)}{again}".strip()
