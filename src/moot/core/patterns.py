"""Regular expressions of people, searched for no longer than a moment: some take years on a short text, and while one
is searched for nothing else happens in the process."""

import re
from functools import lru_cache
from typing import Any

from moot.core.errors import InvalidInput

SECONDS = 0.2
_BRANCHING = re.compile(r"[*+?{|]")
_SHORT = 4000  # characters, on which one repetition is a matter of microseconds


class PatternTooSlow(InvalidInput):
    """The search was given up."""

    code = "PATTERN_TOO_SLOW"


def check(pattern: str) -> str:
    """The pattern; ValueError if it is none."""
    try:
        _compiled(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


def search(pattern: str, text: str, *, minds_case: bool = False) -> tuple[str, ...] | None:
    """What its groups stand for where it is first found, in any case of letters; None if it is not."""
    branches = _branches(pattern)
    if branches == 0 or (branches == 1 and len(text) <= _SHORT):
        found: Any = _compiled(pattern, minds_case=minds_case).search(text)
    else:
        found = _search_with_a_limit(pattern, text, minds_case=minds_case)
    return None if found is None else tuple(group or "" for group in found.groups())


@lru_cache(maxsize=4096)
def _compiled(pattern: str, *, minds_case: bool = False) -> re.Pattern[str]:
    return re.compile(pattern, 0 if minds_case else re.IGNORECASE)


@lru_cache(maxsize=4096)
def _branches(pattern: str) -> int:
    return len(_BRANCHING.findall(pattern))


def _search_with_a_limit(pattern: str, text: str, *, minds_case: bool) -> Any:
    # Only here, because most scripts never need it and it takes as long to import as the rest of a short command.
    import regex  # noqa: PLC0415

    try:
        return regex.search(pattern, text, 0 if minds_case else regex.IGNORECASE, timeout=SECONDS)
    except TimeoutError:
        raise PatternTooSlow(
            f"Looking for {pattern[:80]!r} in {len(text):,} characters takes longer than {SECONDS:g} s.",
            "Write it without repetitions inside or right after each other.",
        ) from None
    except regex.error:  # the few that only Python itself understands
        return _compiled(pattern, minds_case=minds_case).search(text)
