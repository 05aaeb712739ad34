"""The channel as Markdown. Bodies are escaped, so that nobody can forge another's heading or hide what follows."""

import re
from collections.abc import Iterable
from datetime import date, datetime

from moot.bus.messages import Message
from moot.core.text import inert

_LINE_END = re.compile(r"\r\n?")
# What may stand before a block: indentation, quotation marks, bullets and numbers.
_BEFORE = r"[ \t]*(?:>[ \t]*|(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)*"
# At the start of a block: a heading, the line under a heading, and a link's address, which would turn the name in
# moot's own headings into that link.
_FORGED = re.compile(rf"^({_BEFORE})(?=#{{1,6}}(?:\s|$)|=+[ \t]*$|-+[ \t]*$|\[[^\]]*(?:\]:|$))")
# Anywhere: HTML can be a heading, and hide what follows. A sign that is escaped already stays as it is.
_HTML = re.compile(r"(?<!\\)((?:\\\\)*)(?=<[A-Za-z!?/])")
_FENCE = re.compile(rf"({_BEFORE})(`{{3,}}(?=[^`]*$)|~{{3,}})")
_BACKTICKS = re.compile(r"`+")


def markdown(messages: Iterable[Message]) -> str:
    """`### HH:MM:SS [from]` and the body for each, the date once a day; all times UTC."""
    return "".join(pieces(messages))


def pieces(messages: Iterable[Message], day: date | None = None) -> Iterable[str]:
    """One piece of text a message; `day` is the date of the last one written before."""
    for message in messages:
        if message.at.date() != day:
            day = message.at.date()
            yield f"## {day.isoformat()}\n\n"
        yield f"### {clock_time(message.at)} [{message.sender}]\n{escaped(message.body)}\n\n"


def clock_time(moment: datetime) -> str:
    return moment.strftime("%H:%M:%S")


def escaped(body: str) -> str:
    """What would read as moot's own is visibly quoted, and a code block that was left open is closed.

    Where a code block ends that stands in a list or a quotation depends on all that surrounds it: a text with one is
    shown as it was written, as code.
    """
    lines = inert(_LINE_END.sub("\n", body.rstrip())).split("\n")
    shown: list[str] = []
    fence: str | None = None  # of the code block that we are in
    for line in lines:
        found = _FENCE.match(line)
        if fence is not None:
            shown.append(line)
            fence = None if _closes(line, fence) else fence
        elif found is None:
            shown.append(_HTML.sub(r"\1\\", _FORGED.sub(r"\1\\", line, count=1)))
        elif found[1]:
            return _as_code(lines)
        else:
            shown.append(line)
            fence = found[2]
    return "\n".join(shown if fence is None else [*shown, fence])


def _closes(line: str, fence: str) -> bool:
    mark = line.rstrip(" \t")
    bare = mark.lstrip(" ")
    return len(mark) - len(bare) <= 3 and len(bare) >= len(fence) and not bare.strip(fence[0])


def _as_code(lines: list[str]) -> str:
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *lines, fence])
