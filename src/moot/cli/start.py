"""`moot start`: a workflow that keeps running until somebody stops it."""

import sys
from pathlib import Path

import click

from moot.api import background, running, targets
from moot.api.running import Order
from moot.cli import loop, opening, play, terminal
from moot.cli.options import budget_option, input_option, instance_option, json_option, store_option


@click.command()
@click.argument("workflow")
@input_option
@budget_option
@click.option("--background", "in_background", is_flag=True, help="Detach from the terminal; write to a log.")
@click.option("--verbose", "-v", is_flag=True, help="Also show what is read and done.")
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    workflow: str,
    inputs: tuple[str, ...],
    budget: str | None,
    in_background: bool,
    verbose: bool,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Start a workflow and keep it running until moot stop. WORKFLOW is a file or a name, as for moot run."""
    order = Order(
        workflow,
        "start",
        targets.instance(instance),
        inputs,
        budget,
        store,
        has_person=play.has_person(as_json=as_json),
    )
    loaded = running.load(order)
    if in_background:
        return _detach(order, sys.argv)
    opening.show(loaded, as_json=as_json, is_verbose=verbose)
    return loop.run(play.show(running.run(order, loaded), order, as_json=as_json))


def _detach(order: Order, argv: list[str]) -> int:
    """The same command once more, without the flag."""
    arguments = [one for one in argv[1:] if one != "--background"]
    started = background.start(arguments, order.instance)
    if not started.is_ready:
        for line in started.last_words:
            terminal.note(line)
        return started.exit_code or 1
    terminal.say(f"{order.source} runs in the background (process {started.pid}); its log is {_shown(started.log)}")
    terminal.say(f"see it with: moot log -f --instance {order.instance}    end it with: moot stop @{order.instance}")
    return 0


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
