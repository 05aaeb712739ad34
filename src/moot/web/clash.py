"""A refusal that shows how things are, to whoever believed otherwise."""

from collections.abc import Mapping

from moot.core.errors import MootError
from moot.core.json import Json


class Clash(MootError):
    """The same fact under the same code, with what is needed to go on from there."""

    def __init__(self, error: MootError, shown: Mapping[str, Json]) -> None:
        super().__init__(error.fact, error.remedy)
        self.code = error.code  # pyright: ignore[reportAttributeAccessIssue]  # each has that of what it shows
        self.shown = shown
