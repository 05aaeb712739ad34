"""What reaches a person's terminal or a program's pipe.

Text from agents is made inert on the way: nobody can send escape codes to the person's terminal, turn the reading
direction or forge another line. Colours are ours, and only for terminals that want them.
"""

import os
import re
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TextIO

from moot.cli import below as bottom
from moot.core.text import inert as inert

# What JSON leaves as it is, though terminals act on it.
_ACTIVE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35"} | {
    "cyan": "36"
}
SENDER_COLOURS = ("cyan", "green", "magenta", "yellow", "blue")


class Painted(str):
    """Text that is inert already and carries our own colour codes."""

    __slots__ = ()


FRESH = Painted("\x1b[H\x1b[2J\x1b[3J")  # an empty screen


def below(lines: Sequence[str]) -> None:
    """Lines that stay at the bottom until something else is said or shown there."""
    width = bottom.size().columns - 1
    bottom.show([bottom.cut(_safe(one), width) for one in lines])


def can_redraw() -> bool:
    """Whether lines that were shown can be taken away again."""
    return is_terminal(sys.stdout) and os.environ.get("TERM") not in (None, "", "dumb")


def shows_signs() -> bool:
    """Whether every character can be shown, bars and turning signs included."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def say(*pieces: str) -> None:
    """One line for the reader of our output."""
    _write(sys.stdout, "".join(_safe(piece) for piece in pieces) + "\n")


def note(*pieces: str) -> None:
    """One line beside the output, on stderr."""
    _write(sys.stderr, "".join(_safe(piece) for piece in pieces) + "\n")


def prompt(text: str) -> None:
    """What a person is asked, with the answer on the same line."""
    _write(sys.stdout, _safe(text))
    flush()


def warn(text: str) -> None:
    note(paint("warning:", "yellow", on=sys.stderr), " ", text)


def remedies(text: str) -> None:
    """What helps, beside the output: one remedy a line."""
    for one in text.splitlines():
        note("  ", one)


def document(value: object) -> None:
    """One JSON document, in UTF-8 whatever the locale says."""
    from moot.core import json

    _write_bytes(json.pretty(value))


def line(value: object, *, on: TextIO | None = None) -> None:
    """One JSON document on one line, on stdout unless another stream is given."""
    from moot.core import json

    _write_bytes(json.dumps(value), on)


def table(rows: Iterable[Sequence[str]], least: Sequence[int]) -> None:
    """Columns in line; `least` is how wide each is at least, without the gap of two. The last one is not padded."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max([wanted, *(len(row[at]) for row in cells)]) for at, wanted in enumerate(least)]
    for *first, last in cells:
        line = "".join(cell.ljust(width + 2) for cell, width in zip(first, widths, strict=True))
        say(line if last else line.rstrip(), last)


def paint(text: str, colour: str, *, on: TextIO | None = None) -> Painted:
    """In this colour, if the stream (stdout unless given) shows colours."""
    inert_text = inert(text)
    if not shows_colours(sys.stdout if on is None else on):
        return Painted(inert_text)
    return Painted(f"\x1b[{_CODES[colour]}m{inert_text}\x1b[0m")


def shows_colours(stream: TextIO | None) -> bool:
    """A terminal, unless NO_COLOR or TERM=dumb says otherwise."""
    is_refused = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return is_terminal(stream) and not is_refused


def is_terminal(stream: TextIO | None) -> bool:
    """None stands for a stream that was closed before the start."""
    return stream is not None and stream.isatty()


def one_line(text: str) -> str:
    """Inert, and on one line."""
    return inert(text).replace("\n", "\\n").replace("\t", " ")


def flush() -> None:
    """Everything is out. Raises OSError if the reader is gone or its disk is full."""
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # None when it was closed before the start
        sys.stdout.flush()


def _safe(piece: str) -> str:
    return piece if isinstance(piece, Painted) else inert(piece)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    bottom.take_away()
    encoding = stream.encoding or "utf-8"
    # What the terminal cannot show is spelled out; it is no reason to fail.
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _write_bytes(text: str, on: TextIO | None = None) -> None:
    stream = on or sys.stdout
    if stream is None:  # pyright: ignore[reportUnnecessaryComparison]  # None when it was closed before the start
        return
    escaped = _ACTIVE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    stream.flush()
    stream.buffer.write(escaped.encode() + b"\n")


@contextmanager
def unheard() -> Generator[None]:
    """For work that goes on though nobody reads any more: what is said from then on is dropped."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
