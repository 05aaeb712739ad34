"""The schemas of tools, as models and other programs are told them. Computed once a tool: it costs more than a call."""

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from moot.core.json import Json
from moot.core.tool import Tool

_NAMED = frozenset(("properties", "$defs"))  # here keys are names, not keywords


@cache
def arguments(tool: Tool) -> Mapping[str, Json]:
    return plain(tool.arguments.model_json_schema())


@cache
def result(tool: Tool) -> Mapping[str, Json]:
    return plain(tool.result.model_json_schema(mode="serialization"), drops_null=True)


def plain(schema: dict[str, Any], *, drops_null: bool = False) -> dict[str, Any]:
    """Without titles, which only cost tokens. Results leave out what is null, so it cannot be required there."""
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMED:
            parts = cast(dict[str, dict[str, Any]], value)
            found[key] = {name: plain(part, drops_null=drops_null) for name, part in parts.items()}
        elif key == "required" and drops_null:
            found[key] = [name for name in value if not _is_nullable(schema["properties"][name])]
        elif key != "title":
            found[key] = _plain_value(value, drops_null)
    return found


def _plain_value(value: Any, drops_null: bool) -> Any:
    if isinstance(value, dict):
        return plain(cast(dict[str, Any], value), drops_null=drops_null)
    if isinstance(value, list):
        return [_plain_value(one, drops_null) for one in cast(list[Any], value)]
    return value


def _is_nullable(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "null" or any(_is_nullable(one) for one in schema.get("anyOf", ()))
