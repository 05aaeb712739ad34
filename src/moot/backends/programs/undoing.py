"""Undoing: what we have added to a JSON file taken out again, while all that somebody else changed meanwhile stays."""

from collections.abc import Mapping, Sequence

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json


class _Nothing:
    """Where there is no value, which is another thing than null."""


_NOTHING = _Nothing()
_Value = Json | _Nothing


def without(before: bytes | None, ours: bytes, now: bytes) -> bytes | None:
    """`now` without what made `ours` of `before`; None if nothing is left. What is no JSON stays as it is."""
    try:
        was, made, found = _read(before), json.loads(ours), json.loads(now)
    except InvalidInput:
        return now
    if found == made:
        return before
    left = _without(was, made, found)
    return None if isinstance(left, _Nothing) else json.pretty(left).encode()


def _read(content: bytes | None) -> _Value:
    return json.loads(content) if content and content.strip() else _NOTHING


def _without(was: _Value, made: _Value, found: Json) -> _Value:
    if found == made:
        return was
    left: Json = found
    if isinstance(made, Mapping) and isinstance(found, Mapping):
        left = _object_without(was if isinstance(was, Mapping) else {}, made, found)
    elif isinstance(made, list | tuple) and isinstance(found, list | tuple):
        left = _list_without(was if isinstance(was, list | tuple) else (), made, found)
    is_ours_alone = not left and left != found and isinstance(was, _Nothing)
    return _NOTHING if is_ours_alone else left


def _object_without(was: Mapping[str, Json], made: Mapping[str, Json], found: Mapping[str, Json]) -> Json:
    left = {key: _without(was.get(key, _NOTHING), made.get(key, _NOTHING), value) for key, value in found.items()}
    return {key: value for key, value in left.items() if not isinstance(value, _Nothing)}


def _list_without(was: Sequence[Json], made: Sequence[Json], found: Sequence[Json]) -> Json:
    left = list(found)
    for one in made:
        if one not in was and one in left:
            left.remove(one)
    return left
