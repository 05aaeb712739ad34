"""`moot init`: set up this project and connect your agents; `--undo` takes that back."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from moot.api import initializing
from moot.app.first_files import CLIENTS, Client, Setup
from moot.app.first_workflow import LEAVES, PATH, Chosen, Leave, Runner
from moot.cli import terminal
from moot.cli.options import json_option
from moot.core.errors import InvalidInput
from moot.core.records import record

if TYPE_CHECKING:
    from moot.api.initializing import Found
    from moot.app.first_files import Change

_OFFLINE: Runner = "scripted"
_LEAVES = {
    "read-only": "they look at files and talk; nothing is changed",
    "ask": "they ask you before they change a file or run a command",
    "edit": "they change files; they ask before they run commands",
}


class Unasked(InvalidInput):
    """Nobody is there to say yes."""

    code = "UNASKED"


@record
class _Said:
    clients: Sequence[Client]
    runner: Runner | None
    leave: Leave | None
    has_hooks: bool | None
    is_agreed: bool
    as_json: bool


class _Questions:
    """Numbered as they are asked."""

    def __init__(self) -> None:
        self._asked = 0

    def ask(self, text: str, default: str, ways: Sequence[str]) -> Any:
        self._asked += 1
        return click.prompt(f"{self._asked}. {text}", default, type=click.Choice(ways), err=True)


@click.command()
@click.option("--for", "clients", multiple=True, type=click.Choice(CLIENTS), help="Whom to connect.  [default: found]")
@click.option("--agents", "runner", metavar="NAME", help="What runs the agents of the first workflow: claude, codex, …")
@click.option("--permissions", "leave", type=click.Choice(LEAVES), help="What they may do without asking.")
@click.option("--hooks/--no-hooks", "has_hooks", default=None, help="Show unread mail in Claude Code, by hooks.")
@click.option("--yes", "-y", "is_agreed", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=True, help="Take out what init has written; the rest of each file stays.")
@json_option
def command(*, undo: bool, **said: Any) -> int:
    """Set up this project: a first workflow for the agents that you have, and for Claude Code, Codex and Cursor an MCP
    entry and a short section of instructions. Asks three things, says what it would write, and writes over nothing.

    Without a terminal, say --yes; hooks are then written only with --hooks.
    """
    given = _Said(**said)
    if not given.is_agreed and not terminal.is_terminal(sys.stdin):
        raise Unasked("There is nobody to ask.", "Say --yes to go ahead.")
    return _undo(given) if undo else _set_up(given)


def _set_up(said: _Said) -> int:
    initializing.root()  # agents are told at once
    found = initializing.runners()
    questions = _Questions()
    chosen = _chosen(said, found, questions)
    setup = Setup(tuple(said.clients) or initializing.installed(), chosen, bool(said.has_hooks))
    changes = initializing.wanted(setup)
    if not said.is_agreed:
        asked = _agreed(setup, changes, said, questions)
        if asked is None:
            terminal.note("nothing was written")
            return 1
        changes = asked
    if not changes:
        _say_nothing("everything is there already", as_json=said.as_json)
        return 0
    initializing.carry_out(changes)
    _tell(changes, is_undone=False, as_json=said.as_json)
    if not said.as_json:
        _next(setup)
    return 0


def _undo(said: _Said) -> int:
    undoing = initializing.undone()
    for one in undoing.refused:
        terminal.note(terminal.paint("error:", "red", on=sys.stderr), f" {one.code}: {one.fact}")
        terminal.remedies(one.remedy)
    code = max((one.exit_code for one in undoing.refused), default=0)
    if not undoing.changes:
        _say_nothing("nothing to undo", as_json=said.as_json)
        return code
    if not said.is_agreed:
        _list(undoing.changes)
        if not click.confirm("Go ahead?", err=True):
            return 1
    initializing.carry_out(undoing.changes)
    _tell(undoing.changes, is_undone=True, as_json=said.as_json)
    return code


def _chosen(said: _Said, found: Sequence["Found"], questions: _Questions) -> Chosen:
    """The first two questions, as far as they are not answered already."""
    names: list[Runner] = [*(one.runner for one in found), _OFFLINE]
    if said.runner is not None and said.runner not in names:
        raise InvalidInput(
            f"{said.runner[:80]!r} cannot run agents here.", f"Choose from: {', '.join(names)}. See moot doctor."
        )
    runner, leave = said.runner, said.leave
    if initializing.has_workflow():
        terminal.note(f"  {PATH} is there, and stays as it is")
    elif not said.is_agreed:
        _introduce(found)
        if runner is None:
            runner = questions.ask("What runs your agents?", names[0], names)
        if leave is None and runner != _OFFLINE:
            for name, words in _LEAVES.items():
                terminal.note(f"  {name}: {words}")
            leave = questions.ask("What may they do?", LEAVES[0], LEAVES)
    return Chosen(runner or names[0], leave or LEAVES[0])


def _introduce(found: Sequence["Found"]) -> None:
    for one in found:
        terminal.note(f"  {one.runner}: {one.words}")
    for words in initializing.unready():
        terminal.note(f"  {words}")
    if not found:
        terminal.note("Nothing here can run agents yet (moot doctor says what would help); scripted ones work offline.")


def _agreed(setup: Setup, changes: Sequence["Change"], said: _Said, questions: _Questions) -> "list[Change] | None":
    """The last: what is to be written, with or without hooks. None: nothing is."""
    can_hook = said.has_hooks is None and "claude" in setup.clients
    offered = initializing.wanted(Setup(setup.clients, setup.workflow, has_hooks=True)) if can_hook else changes
    if not offered:
        return []
    _list(offered)
    hooked = len(offered) > len(changes)
    ways = ["yes", "no", "without-hooks"] if hooked and changes else ["yes", "no"]
    answer = questions.ask("Write this?", "yes", ways)
    return None if answer == "no" else list(offered if answer == "yes" else changes)


def _list(changes: Sequence["Change"]) -> None:
    for one in changes:
        verb = "remove" if one.text is None else "change" if one.file.exists() else "write"
        terminal.note(f"  {verb} {one.piece.path}: {one.piece.words}")


def _say_nothing(words: str, *, as_json: bool) -> None:
    if as_json:
        terminal.document([])
    else:
        terminal.say(words)


def _tell(changes: Sequence["Change"], *, is_undone: bool, as_json: bool) -> None:
    if as_json:
        told = [{"file": str(one.file), "what": one.piece.words, "is_removed": one.text is None} for one in changes]
        terminal.document(told)
        return
    for one in changes:
        verb = "removed" if one.text is None else "changed" if is_undone else "wrote"
        terminal.say(f"{verb} {one.piece.path} ({one.piece.words})")


def _next(setup: Setup) -> None:
    if setup.clients:
        terminal.say("next: moot run review, or start your agent here and ask it to plan something with moot")
    else:
        terminal.say(
            "next: moot run review; none of Claude Code, Codex and Cursor was found, --for connects one anyway"
        )
    if setup.workflow.runner == _OFFLINE:
        terminal.say("its agents are scripted until you name others: moot doctor says what there is")
    if setup.clients and not initializing.is_found():
        terminal.warn("moot is not on your PATH: clients will not find it. Install it with pipx or uv tool.")
