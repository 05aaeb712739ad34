"""Patterns of paths: `*` and `?` within a name, `**` for any folders between."""

import fnmatch
import re
from collections.abc import Sequence


class Glob:
    def __init__(self, pattern: str) -> None:
        self._parts = tuple(_part(one) for one in pattern.split("/") if one not in ("", "."))

    @property
    def depth(self) -> int | None:
        """How many names a path that matches has; None for any number."""
        return None if None in self._parts else len(self._parts)

    def matches(self, path: str) -> bool:
        return self._from(0, path.split("/"))

    def _from(self, start: int, names: Sequence[str]) -> bool:
        """Step by step which parts may come next: what takes long on no path."""
        places = self._skipping({start})
        for name in names:
            after = set[int]()
            for place in places:
                if place == len(self._parts):
                    continue
                part = self._parts[place]
                if part is None:
                    after.add(place)
                elif part.match(name):
                    after.add(place + 1)
            places = self._skipping(after)
        return len(self._parts) in places

    def _skipping(self, places: set[int]) -> set[int]:
        """`**` may also stand for no folder at all."""
        for place in sorted(places):
            further = place
            while further < len(self._parts) and self._parts[further] is None:
                further += 1
                places.add(further)
        return places


def _part(spelling: str) -> re.Pattern[str] | None:
    return None if spelling == "**" else re.compile(fnmatch.translate(spelling))
