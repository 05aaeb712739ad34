"""The name that somebody may have meant."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

_MOST_FILES = 2000  # that are looked through in a folder


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


def near_file(missing: Path, suffixes: Sequence[str]) -> str | None:
    """Where no file is, the path of one beside it that is called almost like it. Its suffix may be left out."""
    names = {Path(name).stem: name for name in islice(_files(missing.parent, suffixes), _MOST_FILES)}
    near = nearest(missing.stem if missing.suffix in suffixes else missing.name, names)
    return None if near is None else str(missing.with_name(names[near]))


def file_hint(missing: Path, suffixes: Sequence[str]) -> str:
    """A remedy for a path where no file is."""
    near = near_file(missing, suffixes)
    return "Check the path." if near is None else f"Did you mean `{near}`?"


def _files(folder: Path, suffixes: Sequence[str]) -> Iterator[str]:
    try:
        yield from (one.name for one in folder.iterdir() if one.suffix in suffixes and one.is_file())
    except (OSError, ValueError):  # no folder, or what cannot be the name of one
        return
