"""JavaScript that cannot be read, found before anything runs: told with its place, as everything else that is wrong.

Only where people's files are read. What was begun was read before.
"""

from collections.abc import Iterable

from moot.engine.expressions import syntax
from moot.engine.files.section import Notes

_SHOWN = 80


def proofread(all_notes: Iterable[Notes]) -> None:
    for notes in all_notes:
        wrongs = syntax.faults(code for _, code in notes.scripts)
        for (path, code), wrong in zip(notes.scripts, wrongs, strict=True):
            if wrong is not None:
                shown = " ".join(code.split())[:_SHOWN]
                notes.add(path, f"JavaScript cannot read `{shown}`: {wrong}", "Correct it.")
