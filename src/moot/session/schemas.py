"""JSON Schemas of people inside those of tools."""

from collections.abc import Mapping
from typing import cast

from moot.core import formats
from moot.core.json import Json


def within(schema: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """The same as a property of another object: its references to itself lead there."""
    if "$id" in schema:  # they lead to that, wherever it stands
        return schema
    return cast(Mapping[str, Json], _moved(schema, f"#/properties/{name}"))


def _moved(part: Json, root: str, *, is_schema: bool = True) -> Json:
    if isinstance(part, list):
        return [_moved(one, root) for one in part]
    if not isinstance(part, Mapping):
        return part
    moved: dict[str, Json] = {}
    for key, value in part.items():
        if is_schema and key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            moved[key] = root + value.removeprefix("#")
        elif is_schema and key in formats.DATA:
            moved[key] = value
        else:
            moved[key] = _moved(value, root, is_schema=not (is_schema and key in formats.NAMED))
    return moved
