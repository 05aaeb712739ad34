"""`moot doctor`: say what is wrong and how to fix it. Changes nothing."""

import click

from moot.api.check import Check
from moot.api.doctor import examine
from moot.cli import loop, terminal
from moot.cli.options import json_option, store_option
from moot.cli.terminal import paint


@click.command()
@store_option
@json_option
def command(store: str | None, as_json: bool) -> int:
    """Say what is wrong and how to fix it. Changes nothing; the exit code is 1 if there is a problem."""
    return loop.run(_doctor(store, as_json=as_json))


async def _doctor(store: str | None, *, as_json: bool) -> int:
    found: list[Check] = []
    async for one in examine(store):
        found.append(one)
        if not as_json:
            _show(one)
            terminal.flush()
    is_ok = all(one.is_ok for one in found)
    if as_json:
        terminal.document({"ok": is_ok, "checks": [_plain(one) for one in found]})
    return 0 if is_ok else 1


def _show(one: Check) -> None:
    mark = paint("ok     ", "green") if one.is_ok else paint("problem", "red")
    terminal.say(mark, f"  {one.name:<9}  ", terminal.one_line(one.fact))
    if one.remedy:
        terminal.say(" " * 20, terminal.one_line(one.remedy))


def _plain(one: Check) -> dict[str, str | bool]:
    return {"name": one.name, "ok": one.is_ok, "fact": one.fact, "remedy": one.remedy}
