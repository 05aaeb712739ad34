"""`moot examples`: list, show, copy and run what comes with moot."""

from collections.abc import Sequence
from pathlib import Path

import click

from moot.api import examples
from moot.api.examples import ALL, Example
from moot.cli import completing, terminal
from moot.cli.options import json_option
from moot.core.errors import InvalidInput

_TOPICS = {"talk": "Talk", "plan": "A plan", "team": "A team", "steps": "Step by step", "agents": "Agents as files"}


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Examples that come with moot; without a command, list them. All run offline."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@command.command("list")
@json_option
def list_all(as_json: bool) -> None:
    """What there is."""
    _list(as_json=as_json)


@command.command()
@click.argument("name", shell_complete=completing.examples)
def show(name: str) -> None:
    """Print the files of an example."""
    found = examples.find(name)
    for number, file in enumerate(found.files):
        if len(found.files) > 1:
            terminal.say("\n" if number else "", terminal.paint(f"--- {file}", "dim"))
        terminal.say(found.text(file).rstrip("\n"))


@command.command()
@click.argument("name", shell_complete=completing.examples)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@json_option
def copy(name: str, folder: Path | None, as_json: bool) -> None:
    """Copy an example to where you can change it. Writes over nothing."""
    found = examples.find(name)
    target = folder or Path(found.place)
    written = examples.copy(found, target)
    if as_json:
        terminal.document([str(one) for one in written])
        return
    for one in written:
        terminal.say(f"wrote {one}")
    if found.needs_git:
        terminal.say("it works on a git repository; where there is none: moot team setup")
    inside = "" if target == Path() or found.place.startswith(".moot") else f"cd {target} && "
    terminal.say(f"next: {inside}{found.spelled}")


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", shell_complete=completing.examples)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def run(name: str, options: Sequence[str]) -> int:
    """Run an example in a folder of its own, of which nothing stays. OPTIONS are those of moot run, or moot ask."""
    found = examples.find(name)
    if found.needs_project:
        raise InvalidInput(
            f"{found.name} looks at the files of a project.",
            f"In yours: moot examples copy {found.name}, then {found.spelled}.",
        )
    return _run(found, options)


def _run(example: Example, options: Sequence[str]) -> int:
    from moot.cli import loop, play, program
    from moot.workspaces import preparing

    with examples.tried(example) as project:
        if example.needs_git:
            loop.run(preparing.prepare(project.root))
        words = [*example.command, *options]
        if "--json" not in words:
            terminal.say(terminal.paint(f"$ {example.spelled}", "dim"))
            terminal.flush()
        with play.unkept():
            code = program.call("moot", ["--store", project.own_store_url, *words])
        if "--json" not in words:
            terminal.flush()
            terminal.note(f"it ran in a folder that is gone; to keep it: moot examples copy {example.name}")
    return code


def _list(*, as_json: bool) -> None:
    if as_json:
        told = [{"name": one.name, "topic": one.topic, "about": one.sentence, "command": one.spelled} for one in ALL]
        terminal.document(told)
        return
    width = max(len(one.name) for one in ALL)
    for topic, heading in _TOPICS.items():
        terminal.say(terminal.paint(heading, "bold"))
        for one in ALL:
            if one.topic == topic:
                terminal.say(f"  {one.name:<{width}}  {one.sentence}")
    terminal.say("")
    terminal.say("moot examples run NAME tries one, show NAME prints it, copy NAME gives it to you")
