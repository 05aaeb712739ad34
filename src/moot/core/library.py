"""Definitions that can be started by name, for those who do not know where they are kept."""

from typing import Literal, Protocol

from moot.core.errors import InvalidInput
from moot.core.records import record

Origin = Literal["project", "global"]
Files = tuple[tuple[str, str], ...]  # name and text of each: the workflow itself, then all that it imports or includes


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
