"""The conversation as lines: `HH:MM:SS sender  text` in local time, further lines of a text indented."""

import zlib
from datetime import UTC, datetime

from moot.bus.messages import Message
from moot.cli import terminal
from moot.cli.terminal import Painted, paint
from moot.core.events import StoredEvent

MARKS = {"begin": "--", "tool": "->", "warning": "!", "end": "--"}  # of what agents do on their way
_ASKING = ("question", "plan_approval_request", "permission_request", "shutdown_request", "mode_set_request")
INDENT = " " * 9  # as wide as the time before the sender


class Transcript:
    """Shows one thing after the other, and the date where it changes."""

    def __init__(self, most: int | None = None) -> None:
        """`most`: lines of a message; of one that asks for something, all are shown."""
        self._day = datetime.now(UTC).astimezone().date()
        self._most = most

    def message(self, message: Message) -> None:
        kind = "" if message.kind == "message" else f" [{message.kind}]"
        (first, *rest), left_out = self._cut(message)
        terminal.say(self._time(message.at), " ", by_sender(message.sender), kind, "  ", first)
        for line in rest:
            terminal.say(INDENT, line)
        if left_out:
            self.aside(f"… {left_out:,} more lines; all of it: moot log")

    def _cut(self, message: Message) -> tuple[list[str], int]:
        """The lines that are shown, and how many are not."""
        lines = message.body.rstrip().replace("\r\n", "\n").split("\n")
        if self._most is None or message.kind in _ASKING:
            return lines, 0
        return lines[: self._most], max(0, len(lines) - self._most)

    def event(self, event: StoredEvent) -> None:
        from moot.core import json

        about = terminal.one_line(f"{event.subject} {json.dumps(event.data)}")
        terminal.say(self._time(event.at), " ", by_sender(event.actor), "  ", event.kind, " ", paint(about, "dim"))

    def aside(self, text: str) -> None:
        """Something about what was shown last."""
        terminal.say(INDENT, paint(terminal.one_line(text), "dim"))

    def _time(self, moment: datetime) -> Painted:
        local = moment.astimezone()
        if local.date() != self._day:
            self._day = local.date()
            terminal.say(paint(f"-- {self._day.isoformat()} --", "dim"))
        return paint(clock_time(local), "dim")


def clock_time(moment: datetime) -> str:
    return moment.astimezone().strftime("%H:%M:%S")


def date_and_time(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def by_sender(name: str) -> Painted:
    """Each name in its own colour, the same one every time."""
    return paint(terminal.one_line(name), colour_of(name))


def colour_of(name: str) -> str:
    colours = terminal.SENDER_COLOURS
    return colours[zlib.crc32(name.encode(errors="replace")) % len(colours)]
