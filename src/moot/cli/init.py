"""`moot init`: set up this project and connect your agents; `--undo` takes that back."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from moot.api import initializing
from moot.app.first_files import CLIENTS, Client
from moot.cli import terminal
from moot.cli.options import json_option
from moot.core.errors import InvalidInput

if TYPE_CHECKING:
    from moot.app.first_files import Change


class Unasked(InvalidInput):
    """Nobody is there to say yes."""

    code = "UNASKED"


@click.command()
@click.option("--for", "clients", multiple=True, type=click.Choice(CLIENTS), help="Whom to connect.  [default: found]")
@click.option("--yes", "-y", "is_agreed", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=True, help="Take out what init has written; the rest of each file stays.")
@json_option
def command(*, clients: Sequence[Client], is_agreed: bool, undo: bool, as_json: bool) -> int:
    """Set up this project: an MCP entry and a short section of instructions for Claude Code, Codex and Cursor, and a
    first workflow. Says what it would write and asks first; never writes over anything."""
    changes = initializing.undone() if undo else initializing.wanted(clients or initializing.installed())
    if not changes:
        if as_json:
            terminal.document([])
        else:
            terminal.say("nothing to undo" if undo else "everything is there already")
        return 0
    if not is_agreed:
        _ask(changes)
        if not click.confirm("Go ahead?", err=True):
            return 1
    initializing.carry_out(changes)
    _tell(changes, is_undone=undo, as_json=as_json)
    if not as_json and not undo:
        terminal.say("next: moot run review, or start your agent here and ask it to plan something with moot")
        if not initializing.is_found():
            terminal.warn("moot is not on your PATH: clients will not find it. Install it with pipx or uv tool.")
    return 0


def _ask(changes: Sequence["Change"]) -> None:
    if not terminal.is_terminal(sys.stdin):
        raise Unasked("There is nobody to ask.", "Say --yes to go ahead.")
    for one in changes:
        verb = "remove" if one.text is None else "change" if one.file.exists() else "write"
        terminal.note(f"  {verb} {one.piece.path}: {one.piece.words}")


def _tell(changes: Sequence["Change"], *, is_undone: bool, as_json: bool) -> None:
    if as_json:
        told = [{"file": str(one.file), "what": one.piece.words, "is_removed": one.text is None} for one in changes]
        terminal.document(told)
        return
    for one in changes:
        verb = "removed" if one.text is None else "changed" if is_undone else "wrote"
        terminal.say(f"{verb} {one.piece.path} ({one.piece.words})")
