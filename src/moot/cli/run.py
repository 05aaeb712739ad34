"""`moot run`: a workflow, until nobody has anything left to do."""

import click

from moot.api import checking, running
from moot.cli import loop, opening, play, terminal
from moot.cli.ordering import Wanted, takes_order


@click.command()
@takes_order
@click.option("--dry-run", is_flag=True, help="Say who would run, and stop there.")
def command(wanted: Wanted, *, dry_run: bool) -> int:
    """Run a workflow until it is done. WORKFLOW is a file, or the name of one in .moot/workflows.

    Exit codes: 0 done, 1 failed or mail was given up, 2 wrong file or usage, 3 a limit was reached, 4 waiting for a
    person, 130 interrupted; then moot resume goes on.
    """
    order = wanted.order("run")
    loaded = running.load(order)
    if dry_run:
        if wanted.as_json:
            terminal.document(checking.plain(checking.of_loaded(loaded)))
        else:
            opening.show(loaded, as_json=False, is_verbose=wanted.verbose)
        if (refusal := running.refusal(order, loaded)) is not None:
            terminal.warn(f"{refusal.fact} {refusal.remedy}")
        return 0
    running.check_trust(order, loaded)
    opening.show(loaded, as_json=wanted.as_json, is_verbose=wanted.verbose)
    return loop.run(play.show(running.run(order, loaded), order, as_json=wanted.as_json))
