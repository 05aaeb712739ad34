"""JavaScript that cannot be read, found before anything runs: told with its place, as everything else that is wrong.

Only where people's files are read. What was begun was read before.
"""

from collections.abc import Iterable

from moot.engine.expressions import syntax
from moot.engine.section import Notes

_SHOWN = 80


def proofread(all_notes: Iterable[Notes]) -> None:
    for notes in all_notes:
        for path, code in notes.scripts:
            wrong = syntax.fault(code)
            if wrong is not None:
                shown = " ".join(code.split())[:_SHOWN]
                notes.add(path, f"JavaScript cannot read `{shown}`: {wrong}", "Correct it.")
