"""`moot export`: everything out of the store, as files for people or as lines for programs."""

from pathlib import Path

import click

from moot.api import export
from moot.api.connection import Connection, connect
from moot.cli import loop, terminal
from moot.cli.options import json_option, store_option
from moot.core import json
from moot.views import files
from moot.views.files import FileRefused

STDOUT = "-"


@click.command()
@click.option(
    "--jsonl", metavar="FILE", help="Also write all events, messages and operations to FILE as JSON lines; - is stdout."
)
@store_option
@json_option
def command(jsonl: str | None, store: str | None, as_json: bool) -> None:
    """Rebuild the views under .workflow/<instance>/ and say which files were written; with --jsonl, only that one."""
    if as_json and jsonl == STDOUT:
        raise click.UsageError("--json and --jsonl - both want stdout.")
    loop.run(_export(jsonl, store, as_json=as_json))


async def _export(jsonl: str | None, store: str | None, *, as_json: bool) -> None:
    async with connect("manage", store=store) as connection:
        written = await export.views(connection)
        count = await _lines(connection, jsonl) if jsonl else None
    if as_json:
        terminal.document({"written": [str(file) for file in written], "jsonl": jsonl, "lines": count})
        return
    report = terminal.note if jsonl == STDOUT else terminal.say
    for file in written if count is None else ():
        report(f"wrote {file}")
    if count is not None and jsonl != STDOUT:
        report(f"wrote {jsonl} ({count} lines)")


async def _lines(connection: Connection, jsonl: str) -> int:
    count = 0
    if jsonl == STDOUT:
        async for one in export.lines(connection):
            terminal.line(one)
            count += 1
        return count
    if not Path(jsonl).parent.is_dir():
        raise FileRefused(f"There is no folder {Path(jsonl).parent}.", "Make it first.")
    with files.replacing(Path(jsonl)) as file:
        async for one in export.lines(connection):
            file.write(json.dumps(one) + "\n")
            count += 1
    return count
