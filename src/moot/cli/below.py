"""Lines that stay at the bottom of the terminal until something else is said; only what differs is drawn again.

They are inert, without their ends, and carry no codes but colours. A terminal that is made narrower breaks them anew:
how many rows they take is found from how wide they are.
"""

import os
import re
import sys
from collections.abc import Sequence

_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor, on its way
_CUT, _WRAP = "\x1b[?7l", "\x1b[?7h"  # what the terminal finds wider than we do takes no second row
_TO_END_OF_LINE = "\x1b[K"
# Not from the first row on, or tmux would take that for an empty screen and keep what is erased.
_TO_END = "\x1b[K\x1b7\x1b[B\x1b[J\x1b8"

_lines: list[str] = []
_column = 0  # of the cursor, in the last of them
_columns = 0  # of the terminal, when they were drawn


def size() -> os.terminal_size:
    """Of the terminal behind stdout; as large as terminals once were, if it does not say."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    return os.terminal_size((found.columns or 80, found.lines or 24))


def show(lines: Sequence[str], column: int | None = None) -> None:
    """Instead of those that are there. `column`: where the cursor is left in the last one, if not at its end."""
    global _column, _columns  # there is one terminal
    columns = size().columns
    place = cells(lines[-1]) if lines and column is None else column or 0
    if (list(lines), place, columns) == (_lines, _column, _columns):
        return
    if not lines or columns != _columns:
        take_away()
    if lines:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(_drawn(lines, columns, place).encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    _lines[:], _column, _columns = lines, place, columns


def _drawn(lines: Sequence[str], columns: int, place: int) -> str:
    pieces = [_HIDE, _CUT, _to_first(columns)]
    for at, line in enumerate(lines):
        is_there = at < len(_lines) and _lines[at] == line
        pieces.append("\r\n" if at else "\r")
        pieces.append("" if is_there else f"{line}{_TO_END_OF_LINE}")
    ahead = f"\x1b[{place}C" if place else ""
    # Behind the text, or the rest of the screen would take the end of an unchanged last line with it.
    below = "\r\n\x1b[J\x1b[A" if len(lines) < len(_lines) else ""
    return "".join((*pieces, below, "\r", ahead, _WRAP, _SHOW))


def _to_first(columns: int) -> str:
    """From where the cursor is to the row of the first line."""
    if not _lines:
        return "\r"
    rows = len(_lines) - 1
    if columns != _columns:
        rows = sum(max(1, -(-cells(one) // columns)) for one in _lines[:-1]) + _column // columns
    return "\r" + (f"\x1b[{rows}A" if rows else "")


def take_away() -> None:
    """What is said next comes in their place."""
    if _lines:
        sys.stdout.write(_to_first(size().columns) + _TO_END)
        sys.stdout.flush()  # what follows may come on the other stream
        _lines.clear()


def cells(text: str) -> int:
    """How many columns it takes, without its colours."""
    plain = _COLOURS.sub("", text)
    return len(plain) if plain.isascii() else sum(map(_cells, plain))


def cut(text: str, columns: int) -> str:
    """As much of a text without colours as fits."""
    if cells(text) <= columns:
        return text
    found, left = "", columns
    for letter in text:
        left -= _cells(letter)
        if left < 0:
            break
        found += letter
    return found


def _cells(letter: str) -> int:
    import unicodedata  # not for every command

    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
