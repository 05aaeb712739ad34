"""The types of what a flow asks for, and which values are of them."""

from collections.abc import Mapping
from typing import Literal

from moot.core.json import Json

FieldType = Literal["string", "number", "boolean", "array", "object"]
_A: Mapping[FieldType, str] = {
    "string": "a text",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def described(type_: FieldType) -> str:
    """In words: `a number`."""
    return _A[type_]


def fits(value: Json, type_: FieldType) -> bool:
    return _of(value) == type_


def guessed(value: Json) -> FieldType:
    """The type that a value has."""
    return _of(value) or "string"


def _of(value: Json) -> FieldType | None:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case Mapping():
            return "object"
        case _:
            return None
