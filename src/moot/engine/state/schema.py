"""What is computed from what: the fields of a definition, in an order in which each follows what it is made from."""

from collections.abc import Iterable
from typing import Literal

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine.expressions import javascript

OnError = Literal["propagate", "use_fallback", "ignore"]
INPUT = "input"


class SchemaInvalid(InvalidInput):
    """Computed fields that cannot be computed."""

    code = "STATE_SCHEMA_INVALID"


@record
class Computed:
    """A field that follows from others. `sources` are keys such as `raw.files`."""

    name: str
    sources: tuple[str, ...]
    transform: str
    lists_inputs: bool = False  # `from` was a list: so is `input`
    on_error: OnError = "propagate"
    fallback: Json = None
    validate: str = ""
    line: int = 0  # of the file, where the transform begins

    @property
    def key(self) -> str:
        return f"computed.{self.name}"

    @property
    def names(self) -> frozenset[str]:
        """What it uses besides its input."""
        used = javascript.free_names(self.transform)
        return (used | javascript.free_names(self.validate) if self.validate else used) - {INPUT, "output"}


class Schema:
    """The computed fields of one definition, ordered; immutable."""

    def __init__(self, computed: Iterable[Computed] = (), declared: Iterable[str] = ()) -> None:
        self.computed = {one.name: one for one in computed}
        self.names = frozenset((*self.computed, *declared))  # known, whether they have a value yet or not
        self._keys = {one.key for one in self.computed.values()}
        self._feeds = {one.name: self._keys_of(one) for one in self.computed.values()}
        self.order = self._ordered()
        self._rank = {one.name: at for at, one in enumerate(self.order)}
        self._dependents: dict[str, tuple[str, ...]] = {}

    def sources_of(self, name: str) -> frozenset[str]:
        """Keys that a field is directly made from."""
        return self._feeds[name]

    def all_sources_of(self, name: str) -> frozenset[str]:
        found: set[str] = set()
        waiting = list(self._feeds[name])
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                waiting += self._feeds.get(key.removeprefix("computed."), ()) if key in self._keys else ()
        return frozenset(found)

    def dirty(self, changed: Iterable[str]) -> list[Computed]:
        """What has to be computed anew when these keys have changed, in order."""
        names = {name for key in changed for name in self.dependents(key)}
        return [self.computed[name] for name in sorted(names, key=self._rank.__getitem__)]

    def dependents(self, key: str) -> tuple[str, ...]:
        """The fields that follow from a key, directly or not."""
        if key not in self._dependents:
            reached = {key}
            found: list[str] = []
            for one in self.order:
                if not reached.isdisjoint(self._feeds[one.name]):
                    reached.add(one.key)
                    found.append(one.name)
            self._dependents[key] = tuple(found)
        return self._dependents[key]

    def _keys_of(self, one: Computed) -> frozenset[str]:
        """Of its sources, and of every field that its text may mean by a name."""
        meant = (
            (f"computed.{name}",) if name in self.computed else (f"raw.{name}", f"state.{name}") for name in one.names
        )
        own = {one.key} - set(one.sources)  # a name that means itself is a name of its own
        return frozenset(one.sources) | (frozenset(key for keys in meant for key in keys) - own)

    def _ordered(self) -> list[Computed]:
        ordered: list[Computed] = []
        done: set[str] = set()
        for name in self.computed:
            self._visit(name, done, ordered)
        return ordered

    def _visit(self, first: str, done: set[str], ordered: list[Computed]) -> None:
        """Depth first, without recursion: a chain may be long."""
        trail: list[str] = []
        waiting = [(first, False)]
        while waiting:
            name, is_left = waiting.pop()
            if is_left:
                trail.pop()
                done.add(name)
                ordered.append(self.computed[name])
                continue
            if name in done:
                continue
            if name in trail:
                circle = [*trail[trail.index(name) :], name]
                raise SchemaInvalid(
                    f"Computed fields are made from each other: {' → '.join(circle)}.", "Compute one of them from raw."
                )
            trail.append(name)
            waiting.append((name, True))
            below = sorted(key.removeprefix("computed.") for key in self._feeds[name] if key.startswith("computed."))
            for other in below:
                if other not in self.computed:
                    raise SchemaInvalid(f"{name} is made from computed.{other}, which is not there.", "Compute it.")
                waiting.append((other, False))
