"""`moot log --raw AGENT`: what an agent has written and done on its way, tools of its own included."""

from contextlib import aclosing
from datetime import datetime

from moot.api import raw
from moot.api.access import access
from moot.api.raw import Line
from moot.api.targets import Target
from moot.cli import terminal
from moot.cli.terminal import paint
from moot.cli.transcript import MARKS, clock_time


async def show(target: Target, store: str | None, limit: int, *, is_followed: bool, as_json: bool) -> None:
    async with access("channel_read", store=store, instance=target.instance) as opened:
        file = await raw.file_of(opened, target)
    found: list[Line] = []
    async with aclosing(raw.lines(file, limit, is_followed=is_followed)) as lines:
        async for line in lines:
            if as_json and not is_followed:
                found.append(line)
            elif as_json:
                terminal.line(dict(line))
            else:
                _say(line)
            if is_followed:
                terminal.flush()
    if as_json:
        terminal.document(found)
    elif not file.exists():
        terminal.say(f"{target.agent} has not worked on this machine yet")


def _say(line: Line) -> None:
    kind, text = str(line.get("kind")), str(line.get("text", ""))
    time = paint(clock_time(datetime.fromisoformat(str(line.get("at")))), "dim")
    if kind == "text":
        terminal.say(time, "  ", text)
    else:
        terminal.say(time, "  ", paint(terminal.one_line(f"{MARKS.get(kind, kind)} {text}"), "dim"))
