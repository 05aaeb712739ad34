"""Finds who is meant in a text, and how urgent it sounds. Knows no agents: the caller resolves the names."""

import re
from typing import Literal

Priority = Literal["normal", "high"]

_FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_MENTION = re.compile(r"(?<![\w@])@([A-Za-z][A-Za-z0-9_-]{0,62})(?![\w@])")
_URGENT = re.compile(r"\b(?:urgent|asap|blocked|critical)\b", re.IGNORECASE)


def names(text: str) -> list[str]:
    """The mentioned names, each once, in order. What stands in backticks is quoted, not said."""
    found = (name.rstrip("-_") or name for name in _MENTION.findall(_FENCED.sub(" ", text)))
    return list(dict.fromkeys(found))


def priority(text: str, mention_count: int) -> Priority:
    """High when several are called, or a word says so."""
    return "high" if mention_count > 1 or _URGENT.search(text) else "normal"
