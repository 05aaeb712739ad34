"""Fields of the events that programs print, taken as they are: whatever is missing or of another kind is empty."""

from collections.abc import Mapping, Sequence

from moot.core.json import Json

_NOTHING: Mapping[str, Json] = {}


def text(event: Mapping[str, Json], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def number(event: Mapping[str, Json], name: str) -> float:
    value = event.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def count(event: Mapping[str, Json], *names: str) -> int:
    """The sum of what these fields hold."""
    return sum(int(number(event, name)) for name in names)


def part(event: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = event.get(name)
    return value if isinstance(value, Mapping) else _NOTHING


def parts(event: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    value = event.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [one for one in value if isinstance(one, Mapping)]
