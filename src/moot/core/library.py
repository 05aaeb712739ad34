"""Definitions that can be started by name: where they are looked for, and what is kept of one that was found.

Each text has a name of its own: its way from the project's root, or from the person's home (`~/…`). An import means the
text with that name, seen from the one that it stands in; what a name of a workflow means is found in the same order
among texts as among files.
"""

import posixpath
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, cast

from moot.core.errors import InvalidInput
from moot.core.records import record

if TYPE_CHECKING:
    from moot.core.yaml import Document

Origin = Literal["project", "global"]
Files = tuple[tuple[str, str], ...]  # name and text of each: the workflow itself, then all that it imports or includes
HOME = "~/"
SHELVES = (".moot/workflows", ".aromcp/workflows")  # of a project, and of a person
SUFFIXES = (".yaml", ".yml")
_WRAPPER = "workflow"


@record
class Source:
    """The texts of a definition, whole: nothing else is looked at when it runs."""

    name: str
    path: str
    origin: Origin
    files: Files
    shadows: str = ""  # another file of this name, which is not the one


@record
class Listed:
    name: str
    path: str
    description: str
    origin: Origin


class Library(Protocol):
    def find(self, name: str) -> Source:
        """WorkflowNotFound says where it was looked for."""
        ...

    def listed(self, *, with_global: bool = True) -> list[Listed]: ...


class NoLibrary:
    """Where nothing can be started by name."""

    def find(self, name: str) -> Source:
        raise InvalidInput(f"There are no workflows here, and none called {name[:80]!r}.", "Start it where they are.")

    def listed(self, *, with_global: bool = True) -> list[Listed]:
        return []


def spellings(name: str) -> Iterator[str]:
    """The files that a workflow of this name may be, seen from a shelf; none for what can be no name."""
    parts = name.split(":")
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
        return
    for spelling in dict.fromkeys((name, "/".join(parts))):
        yield from (spelling + suffix for suffix in SUFFIXES)


def places(name: str) -> Iterator[str]:
    """The names of all texts that a workflow of this name may be, the first to be taken first."""
    for root in ("", HOME):
        for shelf in SHELVES:
            yield from (f"{root}{shelf}/{file}" for file in spellings(name))


def called(text: str) -> str:
    """How the workflow of this text is started: by its name, where it has one, else by its path."""
    for shelf in SHELVES:
        for root in ("", HOME):
            if text.startswith(f"{root}{shelf}/") and text.endswith(SUFFIXES):
                return posixpath.splitext(text.removeprefix(f"{root}{shelf}/"))[0].replace("/", ":")
    return text


def imported(written: str, into: str) -> str:
    """The name of the text that an import means."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(into), written))


def unwrapped(document: "Document") -> "Document":
    """What a file that is meant to be imported says below `workflow:`."""
    data = document.data
    if isinstance(data, Mapping) and list(cast(Mapping[str, object], data)) == [_WRAPPER]:
        return document.inside(_WRAPPER)
    return document
