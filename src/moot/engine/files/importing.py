"""What one text means by the names of others: files that it imports, workflows that it includes."""

from collections.abc import Mapping

from moot.core import library
from moot.core.records import record
from moot.engine.files.reading import Reading

Readings = Mapping[str, Reading]  # by the names of their texts, the workflow itself first


@record
class Refusal:
    """Why something that is named was not read."""

    fact: str
    remedy: str


Refusals = Mapping[str, Refusal]  # by the name of a text, or of a workflow


def imports(readings: Readings, name: str) -> list[str]:
    """All that a text imports, also by way of others, each once."""
    found: dict[str, None] = {}
    waiting = [name]
    for at in waiting:  # which grows on the way
        for written in readings[at].imports:
            other = library.imported(written, at)
            if other in readings and other not in found:
                found[other] = None
                waiting.append(other)
    return list(found)


def included(readings: Readings, name: str, workflow: str) -> list[str]:
    """The texts that a workflow's name means in this one: those among its imports, else the one in the library."""
    known = [one for one in imports(readings, name) if readings[one].definition.name == workflow]
    return known or [one for one in library.places(workflow) if one in readings][:1]


def check(readings: Readings, refused: Refusals) -> None:
    """Note what leads nowhere, and what leads round in a circle."""
    checked: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        for at, written in enumerate(readings[name].imports):
            other, notes = library.imported(written, name), readings[name].notes
            if other in trail:
                circle = " → ".join((*trail[trail.index(other) :], other))
                notes.add(("imports", at), f"files import each other: {circle}", "Leave one of the imports out.")
            elif other not in readings:
                why = refused.get(other) or Refusal(f"there is no file {other[:200]}", "Correct the path.")
                notes.add(("imports", at), why.fact, why.remedy)
            elif other not in checked:
                visit(other, (*trail, other))
        checked.add(name)

    for name in readings:
        if name not in checked:
            visit(name, (name,))
