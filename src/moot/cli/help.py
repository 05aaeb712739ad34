"""`moot help [COMMAND …]`: the same as `--help` behind it, for those who try this first."""

from collections.abc import Sequence

import click

from moot.cli import program


@click.command(add_help_option=False)
@click.argument("words", nargs=-1)
def command(words: Sequence[str]) -> int:
    """Help on moot, or on a command."""
    return program.call("moot", [*words, "--help"])
