"""The name that somebody may have meant."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelled almost like it, whatever the case."""
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold()[:200], folded, 1)
    return folded[near[0]] if near else None


def hint(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown name: the nearest known one, or else all of them."""
    names = sorted(known)
    near = nearest(name, names)
    if near is not None:
        return f"Did you mean `{near}`?"
    return f"Known are: {', '.join(names)}." if names else "Leave it out."
