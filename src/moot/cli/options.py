"""Options that several commands share, spelled and explained once."""

import shlex
from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from moot.cli import completing
from moot.core.permissions import Preset
from moot.tools.spellings import Spelling

F = TypeVar("F", bound=Callable[..., Any])
MOST = 100_000  # messages in one answer

store_option = click.option(
    "--store", metavar="URL", help="sqlite:///path/moot.db or postgresql://…  [default: $MOOT_STORE, or this project's]"
)


def _bare(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """An instance may be written as it is elsewhere: `@name`."""
    return value if value is None else value.removeprefix("@")


permissions_option = click.option(
    "--permissions",
    type=click.Choice(get_args(Preset)),
    metavar="PRESET",
    help="What all agents may do without asking: read-only, ask, edit, full.",
)
instance_option = click.option(
    "--instance",
    metavar="NAME",
    callback=_bare,
    shell_complete=completing.instances,
    help="Which instance.  [default: default]",
)
only_instance_option = click.option(
    "--instance",
    metavar="NAME",
    callback=_bare,
    shell_complete=completing.instances,
    help="Only this instance.  [default: all]",
)
input_option = click.option(
    "--input",
    "-i",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE",
    help="An input of the workflow; NAME=@FILE reads it.",
)
budget_option = click.option(
    "--budget",
    metavar="KIND=AMOUNT,…",
    help="What the run may use: cost, time, attempts, tokens, turns; none is no limit.",
)
person_option = click.option("--as", "person", metavar="NAME", help="Speak for a person of the project.")
all_option = click.option("--all", "is_whole", is_flag=True, help="Also questions that were answered.")
tool_names_option = click.option(
    "--tool-names",
    type=click.Choice(get_args(Spelling)),
    help="How tools for steps are called: workflow_start, or workflow.start.  [default: underscored]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def limit_option(default: int, help: str) -> Callable[[F], F]:
    return click.option(
        "--limit", "-n", type=click.IntRange(1, MOST), default=default, show_default=True, metavar="N", help=help
    )


def given(context: click.Context) -> str:
    """The options that this command was given, to be given to another; but for how it is to answer."""
    words: list[str] = []
    for option in context.command.params:
        name = option.name or ""
        is_said = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if isinstance(option, click.Option) and is_said and name != "as_json":
            value: Any = context.params[name]
            if isinstance(value, bool):
                words.append((option.opts if value else option.secondary_opts)[0])
            else:
                each: tuple[Any, ...] = value if option.multiple else (value,)
                words += [word for one in each for word in (option.opts[0], str(one))]
    return shlex.join(words)
