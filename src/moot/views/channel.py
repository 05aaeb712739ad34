"""The channel as Markdown. Bodies are escaped, so that nobody can forge another's heading or hide what follows."""

import re
from collections.abc import Iterable
from datetime import date, datetime

from moot.bus.messages import Message

_LINE_END = re.compile(r"\r\n?")
# At the start of a line: a heading, the line under a heading, and HTML, of which some kinds end only with the file.
_FORGED = re.compile(r"^([ \t]*)(?=#{1,6}(?:\s|$)|=+[ \t]*$|-+[ \t]*$|<[A-Za-z!?/])", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)


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
    """What would read as moot's own is visibly quoted, and a code block that was left open is closed."""
    text = _FORGED.sub(r"\1\\", _LINE_END.sub("\n", body.rstrip()))
    left_open = _open_fence(text)
    return f"{text}\n{left_open}" if left_open else text


def _open_fence(text: str) -> str | None:
    """The fence of a code block that nothing closes."""
    fence: str | None = None
    for mark, rest in _FENCE.findall(text):
        if fence is None:
            # The words after an opening row of backticks must not have more of them: that is code within a line.
            fence = None if mark[0] == "`" and "`" in rest else mark
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
            fence = None
    return fence
