"""`moot workspace`: the worktrees of agents; list, diff, merge, clean up."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from moot.api.access import access
from moot.cli import loop, terminal
from moot.cli.options import json_option, only_instance_option, store_option
from moot.core.ids import InstanceName
from moot.store.errors import StoreNotFound

if TYPE_CHECKING:
    from moot.api.workspaces import Card
    from moot.workspaces.workspaces import Workspace

F = TypeVar("F", bound=Callable[..., Any])
NONE = "no workspaces"
HEADING = ("ID", "STATUS", "BRANCH", "INTO", "BY", "WORKTREE")
LEAST_WIDTHS = (13, 9, 12, 4, 5)
_COLOURS = {"+": "green", "-": "red", "@": "cyan", "d": "bold"}


def _where(function: F) -> F:
    return only_instance_option(store_option(json_option(function)))


@click.group()
def command() -> None:
    """The worktrees that agents work in, and the way of their branches back. TARGET: an id or a branch."""


@command.command("ls")
@click.option("--all", "every", is_flag=True, help="Also those that are closed and whose worktree is gone.")
@_where
def list_all(every: bool, instance: str | None, store: str | None, as_json: bool) -> None:
    """List the workspaces."""
    found = loop.run(_listed(instance, store))
    shown = [one for one in found if every or not one.workspace.is_closed or one.workspace.path is not None]
    if as_json:
        terminal.document([one.plain for one in shown])
    elif not shown:
        terminal.say(NONE)
    else:
        terminal.table([HEADING, *(_row(one) for one in shown)], LEAST_WIDTHS)


@command.command()
@click.argument("target")
@_where
def diff(target: str, instance: str | None, store: str | None, as_json: bool) -> None:
    """What was done there, committed or not, since it left its base."""
    from moot.api import workspaces

    async def work() -> tuple["Card", bytes]:
        async with access("workspace_list", store=store, instance=instance) as opened:
            card = await workspaces.find(opened, target, _named(instance))
            return card, await workspaces.diff(opened, card)

    card, patch = loop.run(work())
    if as_json:
        terminal.document({**card.plain, "diff": patch.decode(errors="replace").replace("\0", "\ufffd")})
    elif terminal.is_terminal(sys.stdout):
        for line in patch.decode(errors="replace").splitlines():
            terminal.say(terminal.paint(line, _COLOURS[line[0]]) if line[:1] in _COLOURS else line)
    else:
        click.echo(patch, nl=False)  # as it is: a program reads it


@command.command()
@click.argument("target")
@click.option("--clean", "cleans", is_flag=True, help="Then remove the worktree.")
@_where
def merge(target: str, cleans: bool, instance: str | None, store: str | None, as_json: bool) -> int:
    """Merge into the base branch, what is not committed included; where there are conflicts, nothing is changed."""
    from moot.api import workspaces

    async def work() -> "Card":
        async with access("manage", store=store, instance=instance) as opened:
            found = await workspaces.merge(opened, await workspaces.find(opened, target, _named(instance)))
            is_merged = found.workspace.status == "merged"
            return (await workspaces.clean(opened, [found]))[0] if cleans and is_merged else found

    card = loop.run(work())
    one = card.workspace
    if as_json:
        terminal.document(card.plain)
    elif one.status == "merged":
        terminal.say(f"{one.branch} is merged into {_into(one)} ({(one.merge_commit or '')[:12]})")
    _tell(card, as_json=as_json)
    return 0 if one.status == "merged" else 1


@command.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@_where
def clean(targets: tuple[str, ...], instance: str | None, store: str | None, as_json: bool) -> int:
    """Remove worktrees: those of TARGETs, or of all that are merged or abandoned. Work that is not merged stays on its
    branch."""
    from moot.api import workspaces

    async def work() -> list["Card"]:
        async with access("manage", store=store, instance=instance) as opened:
            if targets:
                found = [await workspaces.find(opened, one, _named(instance)) for one in dict.fromkeys(targets)]
            else:
                every = await workspaces.listed(opened, _named(instance))
                found = [one for one in every if one.workspace.is_closed and one.workspace.path is not None]
            return await workspaces.clean(opened, found)

    cleaned = loop.run(work())
    if as_json:
        terminal.document([one.plain for one in cleaned])
    for card in cleaned:
        one = card.workspace
        if one.path is None and not as_json:
            kept = f"; other work is on {one.kept_branch}" if one.kept_branch else ""
            terminal.say(f"{one.id} is removed ({one.branch}, {one.status}){kept}")
        _tell(card, as_json=as_json)
    if not cleaned and not as_json:
        terminal.say("nothing to clean up")
    return 0 if all(one.workspace.path is None for one in cleaned) else 1


async def _listed(instance: str | None, store: str | None) -> list["Card"]:
    from moot.api import workspaces

    try:
        async with access("workspace_list", store=store, instance=instance) as opened:
            return await workspaces.listed(opened, _named(instance))
    except StoreNotFound:
        return []


def _named(instance: str | None) -> InstanceName | None:
    return None if instance is None else InstanceName(instance)


def _row(card: "Card") -> tuple[str, ...]:
    one = card.workspace
    status = f"{one.status} ({one.wanted})" if one.wanted and one.status != "creating" else one.status
    return one.id, status, one.branch, _into(one) or "-", one.created_name, one.path or "-"


def _into(one: "Workspace") -> str:
    return next(iter(one.homes), "")


def _tell(card: "Card", *, as_json: bool) -> None:
    """Beside the output: what stands in the way."""
    error = card.workspace.error
    if error is None or as_json:
        return
    terminal.note(terminal.paint("error:", "red", on=sys.stderr), f" {error.code}: {error.fact}")
    for each in card.workspace.conflicts:
        terminal.note(f"  {each.kind}: {terminal.one_line(each.file)}")
    terminal.remedies(error.remedy)
