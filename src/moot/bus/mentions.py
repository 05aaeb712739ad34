"""Finds who is meant in a text, and how urgent it sounds. Knows no agents: the caller resolves the names."""

import re
from typing import Literal

Priority = Literal["normal", "high"]

_BACKTICKS = re.compile(r"(`+)")
_FENCE = 3
# Atomic, so that a word that is no name (an address, something too long) does not count by its beginning.
_MENTION = re.compile(r"(?<![\w@])@((?>[A-Za-z][A-Za-z0-9_-]{0,62}))(?![\w@-])")
_URGENT = re.compile(r"\b(?:urgent|asap|blocked|critical)\b", re.IGNORECASE)


def names(text: str) -> list[str]:
    """The mentioned names, each once, in order. What stands in backticks is quoted, not said."""
    found = (name.rstrip("-_") for name in _MENTION.findall(spoken(text)))
    return list(dict.fromkeys(found))


def priority(text: str, mention_count: int) -> Priority:
    """High when several are called, or a word says so."""
    return "high" if mention_count > 1 or _URGENT.search(text) else "normal"


def spoken(text: str) -> str:
    """The text without what stands between two runs of equally many backticks: one or two quote within a line, three
    or more over lines, and to the end if they begin a line and nothing closes them."""
    pieces = _BACKTICKS.split(text)  # text, run, text, run, …, text
    closing = _closing(pieces)
    said: list[str] = []
    place = 0
    while place < len(pieces):
        end = closing.get(place)
        said.append(pieces[place] if end is None else " ")
        place = 1 + (place if end is None else end)
    return "".join(said)


def _closing(pieces: list[str]) -> dict[int, int]:
    """Where a quotation that opens at each run ends. One pass from behind: a text may have very many runs."""
    closing: dict[int, int] = {}
    next_alike: dict[int, int] = {}  # by length
    line_end = len(pieces)
    for place in range(len(pieces) - 2, 0, -2):
        line_end = place + 1 if "\n" in pieces[place + 1] else line_end
        length = len(pieces[place])
        partner = next_alike.get(length)
        if partner is not None and (length >= _FENCE or partner < line_end):
            closing[place] = partner
        elif length >= _FENCE and _begins_line(pieces[place - 1], is_first=place == 1):
            closing[place] = len(pieces) - 1
        next_alike[length] = place
    return closing


def _begins_line(before: str, *, is_first: bool) -> bool:
    margin = before.rstrip(" \t")
    return margin.endswith("\n") or (is_first and not margin)
