"""What the live view is written on: texts of rich become lines for the terminal, in its colours if it has some.

Words of others come in by `words` alone: on one line, and with nothing in them that acts on a terminal.
"""

import io
import sys
from collections.abc import Callable
from datetime import timedelta

from rich.console import Console
from rich.text import Text

from moot.cli import terminal
from moot.core import durations
from moot.core.records import record

_WIDE = 10_000  # rich breaks no line: each is cut to fit before

Shorten = Callable[[int], tuple[Text, ...]]


@record
class Section:
    """Some lines of the view: how many it needs, how many it has, and what is left of it on fewer."""

    least: int
    lines: tuple[Text, ...]
    shortened: Shorten | None = None  # None: its beginning

    def within(self, rows: int) -> tuple[Text, ...]:
        if rows >= len(self.lines) or self.shortened is None:
            return self.lines[:rows]
        return self.shortened(rows) if rows else ()


class Paper:
    def __init__(self) -> None:
        self._console = Console(
            file=io.StringIO(), width=_WIDE, force_terminal=True, legacy_windows=False,
            color_system="standard" if terminal.shows_colours(sys.stdout) else None,
        )  # fmt: skip

    def line(self, text: Text, columns: int) -> str:
        """With its colours, and an ellipsis where it is cut."""
        fitted = text.copy()
        fitted.truncate(columns, overflow="ellipsis")
        with self._console.capture() as captured:
            self._console.print(fitted, end="", soft_wrap=True)
        return captured.get()


def words(text: str, style: str = "") -> Text:
    """What somebody else has written."""
    return Text(terminal.one_line(text), style)


def joined(*pieces: Text | tuple[str, str] | str) -> Text:
    """Our own words as they are, with their style if they have one."""
    return Text.assemble(*pieces)


def spelled(duration: timedelta) -> str:
    """In whole seconds: what changes more often than that is not read."""
    seconds = int(duration.total_seconds())
    return f"{seconds} s" if seconds < 60 else durations.spell(timedelta(seconds=seconds))


def meter(parts: list[tuple[int, str, str]], total: int, columns: int) -> Text:
    """A bar of `total`: for each part how many, the sign and the style; the rest is empty. Whatever there is of, is
    seen."""
    found, left = Text(), columns
    for count, sign, style in parts:
        wide = 0 if not count or not total else min(left, max(1, columns * count // total))
        found.append(sign * wide, style)
        left -= wide
    return found.append("░" * left, "dim")
