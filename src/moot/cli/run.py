"""`moot run`: a workflow, until nobody has anything left to do."""

from dataclasses import replace as changed
from pathlib import Path

import click

from moot.api import checking, running
from moot.api.footsteps import Sight
from moot.api.running import Order
from moot.api.taping import Taping
from moot.app.workflows import Loaded
from moot.cli import loop, opening, play, terminal
from moot.cli.ordering import Wanted, takes_order


@click.command()
@takes_order
@click.option("--dry-run", is_flag=True, help="Say who would run, and stop there; exit codes are the same.")
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", help="Write down all that agents do.")
@click.option("--replay", type=click.Path(path_type=Path), metavar="FILE", help="Play a recording again, offline.")
@click.option("--force", is_flag=True, help="Let --record write over an earlier recording.")
@click.option("--step", "is_stepped", is_flag=True, help="Take one step at a time: Enter, or moot flow step.")
def command(
    wanted: Wanted, *, dry_run: bool, record: Path | None, replay: Path | None, force: bool, is_stepped: bool
) -> int:
    """Run a workflow until it is done. WORKFLOW is a file, or the name of one in .moot/workflows.

    Exit codes: 0 done, 1 failed or mail was given up, 2 wrong file or usage, 3 a limit was reached, 4 waiting for a
    person, 130 interrupted; then moot resume goes on. A replay that is not like its recording ends with 1.
    """
    order = changed(wanted.order("run"), taping=Taping(record, replay, force), is_stepped=is_stepped)
    if is_stepped:
        order = changed(order, sight=Sight(changes=True))
    loaded = running.load(order)
    if dry_run:
        return _rehearse(order, loaded, wanted)
    running.check_trust(order, loaded)
    opening.show(loaded, as_json=wanted.as_json, is_verbose=wanted.verbose, replays=replay)
    return loop.host(play.show(running.run(order, loaded), order, as_json=wanted.as_json))


def _rehearse(order: Order, loaded: Loaded, wanted: Wanted) -> int:
    """Say who would run, and fail where the run itself would be refused."""
    refusal = running.refusal(order, loaded)
    if wanted.as_json:
        told = checking.plain(checking.of_loaded(loaded))
        terminal.document(told if refusal is None else {**told, **checking.refused(refusal)})
        return refusal.exit_code if refusal is not None else 0
    opening.show(loaded, as_json=False, is_verbose=wanted.verbose, replays=order.taping.replay)
    if refusal is not None:
        raise refusal
    return 0
