"""`moot doctor`: say what is wrong and how to fix it. Changes nothing."""

from collections.abc import Mapping

import click

from moot.api.check import Check, State
from moot.api.doctor import examine
from moot.cli import loop, terminal
from moot.cli.options import json_option, store_option
from moot.cli.terminal import paint


@click.command()
@store_option
@json_option
def command(store: str | None, as_json: bool) -> int:
    """Say what is wrong and how to fix it. Changes nothing; the exit code is 1 if there is a problem.

    What is absent could be used if it were there: that is no problem until an agent needs it.
    """
    return loop.run(_doctor(store, as_json=as_json))


async def _doctor(store: str | None, *, as_json: bool) -> int:
    found: list[Check] = []
    async for one in examine(store):
        found.append(one)
        if not as_json:
            _show(one)
            terminal.flush()
    is_ok = all(one.state != "problem" for one in found)
    if as_json:
        terminal.document({"ok": is_ok, "checks": [_plain(one) for one in found]})
    return 0 if is_ok else 1


_COLOURS: Mapping[State, str] = {"ok": "green", "absent": "dim", "problem": "red"}


def _show(one: Check) -> None:
    mark = paint(f"{one.state:<7}", _COLOURS[one.state])
    terminal.say(mark, f"  {one.name:<9}  ", terminal.one_line(one.fact))
    for remedy in one.remedy.splitlines():
        terminal.say(" " * 20, terminal.one_line(remedy))


def _plain(one: Check) -> dict[str, str | bool]:
    return {"name": one.name, "ok": one.state == "ok", "state": one.state, "fact": one.fact, "remedy": one.remedy}
