"""Changes of state: set, append, increment and merge, at a path inside one field. Nothing is changed in place."""

from collections.abc import Mapping, Sequence
from typing import Literal

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine.state.paths import Index, Path

Operation = Literal["set", "append", "increment", "merge"]
OPERATIONS: tuple[Operation, ...] = ("set", "append", "increment", "merge")


class UpdateRefused(InvalidInput):
    """The value that is there cannot be changed in this way."""

    code = "STATE_UPDATE_REFUSED"


@record
class Update:
    path: Path
    operation: Operation = "set"
    value: Json = None


def meant(operation: Operation, value: Json) -> Json:
    """What is written where nothing is said: to increment is to add 1."""
    return 1 if operation == "increment" and value is None else value


class Missing:
    """Nothing is there yet."""


MISSING = Missing()
Present = Json | Missing


def apply(field: Present, update: Update) -> Json:
    """What the field is after the update."""
    return _within(field, update.path.rest, update)


def _within(there: Present, keys: tuple[str, ...], update: Update) -> Json:
    if not keys:
        return _changed(there, update)
    first, rest = keys[0], keys[1:]
    if isinstance(there, Missing | None):
        there = [] if isinstance(first, Index) else {}
    if isinstance(there, Mapping):
        return {**there, first: _within(there.get(first, MISSING), rest, update)}
    if isinstance(there, Sequence) and not isinstance(there, str):
        at = _index(there, first, update)
        items = list(there)
        items[at:] = [_within(items[at] if at < len(items) else MISSING, rest, update), *items[at + 1 :]]
        return items
    raise UpdateRefused(f"{update.path} lies inside {_kind(there)}.", "Set what is around it first.")


def _index(there: Sequence[Json], key: str, update: Update) -> int:
    """A place in the list, or the one behind its end."""
    if key.isascii() and key.isdigit() and len(key) < 10 and int(key) <= len(there):
        return int(key)
    raise UpdateRefused(f"{update.path} has no place {key[:40]!r} in a list of {len(there)}.", "Append to it.")


def _changed(there: Present, update: Update) -> Json:
    value = update.value
    match update.operation:
        case "set":
            return value
        case "append":
            if isinstance(there, Missing | None):
                return [value]
            if isinstance(there, str) or not isinstance(there, Sequence):
                raise UpdateRefused(f"{update.path} is {_kind(there)}; only to a list can be appended.", "Set a list.")
            return [*there, value]
        case "increment":
            number = _number(0 if isinstance(there, Missing | None) else there)
            step = _number(value)
            if number is None or step is None:
                raise UpdateRefused(
                    f"{update.path} is {_kind(there)} and {_kind(value)} cannot be added.", "Set a number first."
                )
            return number + step
        case "merge":
            known = dict[str, Json]() if isinstance(there, Missing | None) else there
            if not isinstance(known, Mapping) or not isinstance(value, Mapping):
                raise UpdateRefused(
                    f"{update.path} is {_kind(there)} and {_kind(value)} cannot be merged into it.",
                    "Merge an object into an object.",
                )
            return {**known, **value}


def _number(value: Json) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _kind(value: Present) -> str:
    match value:
        case Missing():
            return "nothing"
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "an object"
        case _:
            return "a list"
