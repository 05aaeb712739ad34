"""`moot run`: a workflow, until nobody has anything left to do."""

import click

from moot.api import checking, running, targets
from moot.api.running import Order
from moot.cli import loop, opening, play, terminal
from moot.cli.options import budget_option, input_option, instance_option, json_option, store_option


@click.command()
@click.argument("workflow")
@input_option
@budget_option
@click.option("--dry-run", is_flag=True, help="Say who would run, and stop there.")
@click.option("--verbose", "-v", is_flag=True, help="Also show what is read and done.")
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    workflow: str,
    inputs: tuple[str, ...],
    budget: str | None,
    dry_run: bool,
    verbose: bool,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Run a workflow until it is done. WORKFLOW is a file, or the name of one in .moot/workflows.

    Exit codes: 0 done, 1 failed or mail was given up, 2 wrong file or usage, 3 a limit was reached, 4 waiting for a
    person, 130 interrupted; then moot resume goes on.
    """
    order = Order(
        source=workflow,
        mode="run",
        instance=targets.instance(instance),
        inputs=inputs,
        budget=budget,
        store=store,
        has_person=play.has_person(as_json=as_json),
    )
    loaded = running.load(order)
    if dry_run and as_json:
        terminal.document(checking.plain(checking.of_workflow(loaded.workflow)))
    else:
        opening.show(loaded, as_json=as_json, is_verbose=verbose)
    if dry_run:
        return 0
    return loop.run(play.show(running.run(order, loaded), order, as_json=as_json))
