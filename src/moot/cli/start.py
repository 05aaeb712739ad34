"""`moot start`: a workflow that keeps running until somebody stops it."""

import sys
from pathlib import Path

import click

from moot.api import background, running
from moot.api.running import Order
from moot.app.workflows import Loaded
from moot.cli import loop, opening, play, terminal
from moot.cli.ordering import Wanted, takes_order
from moot.core.errors import InvalidInput


@click.command()
@takes_order
@click.option("--background", "in_background", is_flag=True, help="Detach from the terminal; write to a log.")
def command(wanted: Wanted, *, in_background: bool) -> int:
    """Start a workflow and keep it running until moot stop. WORKFLOW is a file or a name, as for moot run."""
    order = wanted.order("start")
    loaded = running.load(order)
    if in_background:
        _check_reachable(loaded)
        return _detach(order, sys.argv, as_json=wanted.as_json)
    opening.show(loaded, as_json=wanted.as_json, is_verbose=wanted.verbose)
    return loop.host(play.show(running.run(order, loaded), order, as_json=wanted.as_json))


def _check_reachable(loaded: Loaded) -> None:
    if loaded.workflow.context.provider == "memory":
        raise InvalidInput(
            "The workflow keeps its context in memory, where nobody could see or stop it in the background.",
            "Leave --background out, or write provider: file.",
        )


def _detach(order: Order, argv: list[str], *, as_json: bool) -> int:
    """The same command once more, without the flag."""
    arguments = [one for one in argv[1:] if one != "--background"]
    started = background.start(arguments, order.instance)
    if not started.is_ready:
        for line in started.last_words:
            terminal.note(line)
        return started.exit_code or 1
    if as_json:
        terminal.document({"instance": order.instance, "status": "live", "pid": started.pid, "log": str(started.log)})
        return 0
    terminal.say(f"{order.source} runs in the background (process {started.pid}); its log is {_shown(started.log)}")
    terminal.say(f"see it with: moot log -f --instance {order.instance}    end it with: moot stop @{order.instance}")
    return 0


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
