"""The options with which `moot run` and `moot start` are told what to run and how, gathered into one record."""

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

import click

from moot.api import targets
from moot.api.footsteps import Sight
from moot.api.running import Order
from moot.cli import completing, play, terminal
from moot.cli.options import budget_option, input_option, instance_option, json_option, permissions_option, store_option
from moot.core.permissions import Preset
from moot.core.records import record
from moot.registry.runs import Mode
from moot.workflow.members import Flags
from moot.workflow.workflow import Backend

_OPTIONS = (
    click.argument("workflow", shell_complete=completing.workflows),
    input_option,
    budget_option,
    click.option(
        "--backend",
        type=click.Choice(get_args(Backend)),
        metavar="NAME",
        help="What runs all agents but people and those who join by themselves.",
    ),
    permissions_option,
    click.option("--ui", "shows_page", is_flag=True, help="Show the live page, too; its link is printed."),
    click.option("--verbose", "-v", is_flag=True, help="Also show what agents do on their way."),
    instance_option,
    store_option,
    json_option,
)


@record
class Wanted:
    """What the command line says."""

    workflow: str
    inputs: tuple[str, ...]
    budget: str | None
    backend: Backend | None
    permissions: Preset | None
    shows_page: bool
    verbose: bool
    instance: str | None
    store: str | None
    as_json: bool

    def order(self, mode: Mode) -> Order:
        return Order(
            source=self.workflow,
            mode=mode,
            instance=targets.instance(self.instance),
            inputs=self.inputs,
            budget=self.budget,
            store=self.store,
            has_person=play.has_person(as_json=self.as_json),
            heard=(play.progress_line if self.as_json else play.progress) if self.verbose else None,
            flags=Flags(self.backend, self.permissions),
            shows_page=self.shows_page,
            sight=Sight(
                every_step=self.verbose,
                whereabouts=not self.as_json and not self.verbose and terminal.can_redraw(),
            ),
        )


def takes_order(command: Callable[..., int]) -> Callable[..., int]:
    """Give the command these options, as its first argument."""

    @functools.wraps(command)
    def gathered(**given: Any) -> int:
        wanted = Wanted(**{field.name: given.pop(field.name) for field in fields(Wanted)})
        return command(wanted, **given)

    for option in reversed(_OPTIONS):
        gathered = option(gathered)
    return gathered
