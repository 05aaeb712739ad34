"""The channel as Markdown. Bodies are escaped, so that nobody can forge another's heading."""

import re
from collections.abc import Iterable
from datetime import date, datetime

from moot.bus.messages import Message

_HEADING = re.compile(r"^(\s*)(#{1,6}\s)", re.MULTILINE)


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
    """Headings inside a body are visibly quoted."""
    return _HEADING.sub(r"\1\\\2", body.rstrip())
