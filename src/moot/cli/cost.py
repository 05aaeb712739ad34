"""`moot cost`: what was spent, by agent, model or run."""

from collections.abc import Sequence
from typing import Any, get_args

import click

from moot.api import cost, targets
from moot.api.access import access
from moot.api.cost import By, Costs, Line, Spend, Within
from moot.cli import loop, terminal
from moot.cli.money import dollars
from moot.cli.options import json_option, only_instance_option, store_option
from moot.core import text
from moot.core.ids import RunId
from moot.core.records import record
from moot.store.errors import StoreNotFound

NOTHING = "nothing was spent yet; begin with: moot run FILE"


@click.command()
@click.argument("target", required=False, metavar="[@INSTANCE|RUN]")
@click.option(
    "--by", type=click.Choice(get_args(By)), default="agent", show_default=True, help="Whose spending stands in a line."
)
@click.option("--last", "is_last", is_flag=True, help="Only the last run.")
@click.option("--verbose", "-v", is_flag=True, help="Also the tokens of caches and of reasoning.")
@only_instance_option
@store_option
@json_option
def command(**said: Any) -> None:
    """What was spent, in all, in an instance or in a run (wf_…): attempts, calls of models, tokens, dollars. ~ marks
    what is estimated."""
    given = _Given(**said)
    try:
        found = loop.run(_look(given.by, given.within(), given.store))
    except StoreNotFound:
        found = Costs(given.by, ())
    if given.as_json:
        terminal.document(cost.document(found))
    elif found.lines:
        _show(found, is_verbose=given.verbose)
    else:
        terminal.say(NOTHING)


@record
class _Given:
    target: str | None
    by: By
    is_last: bool
    verbose: bool
    instance: str | None
    store: str | None
    as_json: bool

    def within(self) -> Within:
        if self.target is not None and self.target.startswith("wf_"):
            return Within(targets.instance(self.instance) if self.instance else None, RunId(self.target), self.is_last)
        is_named = self.target is not None or self.instance is not None
        return Within(targets.instance(self.target, self.instance) if is_named else None, is_last=self.is_last)


async def _look(by: By, within: Within, store: str | None) -> Costs:
    async with access("manage", store=store) as opened:
        return await cost.of_all(opened, by, within)


def _show(found: Costs, *, is_verbose: bool) -> None:
    columns = _columns(found.by, is_verbose=is_verbose)
    rows: list[tuple[str, ...]] = [(found.by.upper(), *(heading for heading, _ in columns))]
    for line in found.lines:
        rows.append((_name(found.by, line), *_cells(line.spend, columns)))
        rows += [(f"  {part.name}", *_cells(part.spend, columns, is_part=True)) for part in line.parts]
    rows.append(("total", *_cells(found.total, columns)))
    _table(rows)
    if found.total.unknown_calls:
        calls = text.counted(found.total.unknown_calls, "call")
        charged = dollars(found.total.unknown_cost, is_estimated=True)
        known = f"{calls} of unknown outcome may have been billed; {charged} of the total is for that."
        terminal.say(terminal.paint("! ", "yellow"), known)


def _name(by: By, line: Line) -> str:
    return f"{line.name} {line.id}" if by == "run" and not line.name.startswith("(") else line.name


Column = tuple[str, str]  # heading, and the field it shows


def _columns(by: By, *, is_verbose: bool) -> list[Column]:
    found = [("CALLS", "calls"), ("IN", "input_tokens"), ("OUT", "output_tokens")]
    if by != "model":  # an attempt may use several
        found.insert(0, ("ATTEMPTS", "attempts"))
    if is_verbose:
        found += [("CACHE READ", "cache_read_tokens"), ("CACHE WRITE", "cache_write_tokens")]
        found += [("REASONING", "reasoning_tokens")]
    return [*found, ("COST", "cost")]


def _cells(spend: Spend, columns: Sequence[Column], *, is_part: bool = False) -> list[str]:
    return [_cell(spend, field, is_part=is_part) for _, field in columns]


def _cell(spend: Spend, field: str, *, is_part: bool) -> str:
    if field == "cost":
        return dollars(spend.cost, is_estimated=spend.is_estimated)
    if field == "attempts" and is_part:  # an attempt is that of whoever was asked
        return ""
    unknown = f" ({spend.unknown_calls}?)" if field == "calls" and spend.unknown_calls else ""
    return f"{getattr(spend, field):,}{unknown}"


def _table(rows: Sequence[Sequence[str]]) -> None:
    """Names to the left, numbers to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    terminal.table(
        [(row[0], *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))) for row in rows],
        [0] * (len(rows[0]) - 1),
    )
