"""`moot plan`: plans and how far they have come; list, apply, show, draw, save."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from moot.api.access import access, find_project
from moot.cli import loop, pictures, terminal
from moot.cli.options import input_option, instance_option, json_option, store_option
from moot.core import text
from moot.store.errors import StoreNotFound

if TYPE_CHECKING:
    from moot.api.plans import Drawn
    from moot.api.tallies import Tally
    from moot.board.boards import Board
    from moot.board.laying import Laid
    from moot.tools.standing import Progress

F = TypeVar("F", bound=Callable[..., Any])
NONE = "no plans yet; apply one with: moot plan apply FILE"
HEADING = ("ID", "STATUS", "NAME", "CREATED")
LEAST_WIDTHS = (23, 11, 12)
_BAR = 24
_MOST_DRAWN = 2000


def _where(function: F) -> F:
    return instance_option(store_option(json_option(function)))


@click.group()
def command() -> None:
    """Plans: tasks that depend on each other, claimed by whoever is ready. PLAN: an id or a name."""


@command.command("ls")
@_where
def list_all(instance: str | None, store: str | None, as_json: bool) -> None:
    """List the plans, the newest first."""
    from moot.api import plans

    async def work() -> list["Board"]:
        async with access("workflow_list", store=store, instance=instance) as opened:
            return await plans.listed(opened)

    try:
        found = loop.run(work())
    except StoreNotFound:
        found = []
    if as_json:
        from moot.tools import standing  # heavy, and only programs want the form of it

        terminal.document([standing.line(one).model_dump(exclude_none=True) for one in found])
    elif not found:
        terminal.say(NONE)
    else:
        rows = [(one.id, one.status, one.name, f"{one.created_at:%Y-%m-%d %H:%M}") for one in found]
        terminal.table([HEADING, *rows], LEAST_WIDTHS)


@command.command()
@click.argument("file")
@input_option
@click.option("--onto", metavar="PLAN", help="Plan this one anew instead of making another; finished work is kept.")
@_where
def apply(
    file: str, inputs: Sequence[str], onto: str | None, instance: str | None, store: str | None, as_json: bool
) -> None:
    """Make a plan of FILE, or of the one with this name in .moot/plans."""
    from moot.api import plan_files

    read = plan_files.read(find_project(), file, inputs)  # before there is a store for it

    async def work() -> tuple["Board", "Laid"]:
        async with access("manage", store=store, instance=instance, create=onto is None) as opened:
            return await plan_files.lay(opened, read, file, onto)

    board, laid = loop.run(work())
    if as_json:
        terminal.document(
            {
                "workflow_id": board.id,
                "name": board.name,
                "status": board.status,
                "tasks_created": laid.added,
                "tasks_kept": laid.kept,
                "tasks_removed": laid.removed,
            }
        )
        return
    kept = f", {laid.kept} kept, {laid.removed} removed" if laid.kept or laid.removed else ""
    terminal.say(f"{board.id} ({board.name}) is {board.status}: {text.counted(laid.added, 'task')} added{kept}")


@command.command()
@click.argument("plan", required=False)
@_where
def show(plan: str | None, instance: str | None, store: str | None, as_json: bool) -> None:
    """How far a plan has come, and what can be done next."""
    from moot.api import plans, tallies
    from moot.tools import standing

    async def work() -> tuple["Board", "Progress", "Tally", list["Drawn"]]:
        async with access("workflow_progress", store=store, instance=instance) as opened:
            board = await plans.find(opened, plan)
            how, tally = await opened.store.read(
                lambda tx: (standing.progress_of(tx, board), tallies.of_board(tx, board))
            )
            return board, how, tally, await plans.page(opened, board, (), 100)

    board, how, tally, drawn = loop.run(work())
    if as_json:
        terminal.document(how.model_dump(exclude_none=True) | {"name": board.name, "plan": dict(board.plan)})
        return
    terminal.say(terminal.paint(board.name, "bold"), f"  {board.id}  {board.status}")
    if board.reason:
        terminal.say("  ", terminal.paint("! ", "yellow"), board.reason)
    if summary := board.plan.get("summary"):
        terminal.say(f"  {summary}")
    terminal.say(f"  {bar(tally)}")
    show_tasks(drawn)
    if how.total_tasks > len(drawn):
        terminal.say(f"  … and {how.total_tasks - len(drawn)} more; see moot task ls")


@command.command()
@click.argument("plan", required=False)
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Write a picture instead.")
@_where
def draw(plan: str | None, svg: Path | None, instance: str | None, store: str | None, as_json: bool) -> None:
    """Draw a plan: what needs what, and how it stands."""
    from moot.api import drawing, plans

    async def work() -> tuple["Board", list["Drawn"]]:
        async with access("workflow_list", store=store, instance=instance) as opened:
            board = await plans.find(opened, plan)
            return board, await plans.page(opened, board, (), _MOST_DRAWN)

    board, drawn = loop.run(work())
    if svg is not None:
        pictures.write(svg, drawing.svg(board.name, drawn))
    if as_json:
        nodes = [
            {"name": one.task.name, "status": plans.status_of(one.task), "needs": [need.name for need in one.needs]}
            for one in drawn
        ]
        terminal.document({"workflow_id": board.id, "name": board.name, "tasks": nodes})
    elif svg is not None:
        terminal.say(f"{svg} is written")
    else:
        for number, column in enumerate(drawing.columns(drawn)):
            terminal.say(terminal.paint(f"{number + 1}.", "bold"))
            show_tasks(column)


@command.command()
@click.argument("name")
@click.option("--plan", metavar="PLAN", help="Which one; needed if several are open.")
@_where
def save(name: str, plan: str | None, instance: str | None, store: str | None, as_json: bool) -> None:
    """Save a plan as .moot/plans/NAME.yaml, to be applied again; put variables in as ${{ inputs.name }}."""
    from moot.api import plan_files, plans

    async def work() -> Path:
        async with access("manage", store=store, instance=instance) as opened:
            said = await plan_files.saved(opened, await plans.find(opened, plan))
            return plan_files.write(opened, name, said)

    file = loop.run(work())
    if as_json:
        terminal.document({"file": str(file)})
    else:
        terminal.say(f"{file} is written; apply it with: moot plan apply {name}")


def bar(tally: "Tally") -> str:
    """`████░░░░ 3 of 8 tasks, 1 at work, 2 blocked`"""
    filled = _BAR * tally.done // tally.total if tally.total else 0
    return f"{'█' * filled}{'░' * (_BAR - filled)} {tally.spelled}"


def show_tasks(drawn: Sequence["Drawn"]) -> None:
    from moot.api.plans import status_of

    rows: list[tuple[str, ...]] = []
    for one in drawn:
        status = status_of(one.task)
        waits = [need.name for need in one.needs if need.is_waited_for]
        about = one.holder or (f"waits for {', '.join(waits[:3])}{' …' if len(waits) > 3 else ''}" if waits else "")
        rows.append((f"  {one.task.name}", status, about or (one.task.outcome or one.task.error or "")))
    terminal.table(rows, (20, 11))
