"""The form of `mcp_servers`, for editors. What is right is decided by who reads it."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import JsonValue, WithJsonSchema

_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}
_NAMED: Mapping[str, Any] = {"type": "object", "additionalProperties": _TEXT}
_DURATION: Mapping[str, Any] = {"type": ["string", "number"]}
_SERVER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"enum": ["stdio", "http", "streamable-http"]},
        "command": {"anyOf": [_TEXT, _TEXTS], "description": "The program that is the server"},
        "args": {**_TEXTS, "description": "Its arguments"},
        "env": {"anyOf": [_TEXTS, _NAMED], "description": "Variables it gets; ${VAR} is filled in"},
        "cwd": {**_TEXT, "description": "Where it is started, seen from where the agent works"},
        "url": {**_TEXT, "description": "The address of a server over HTTP"},
        "headers": {**_NAMED, "description": "Sent with every request; ${VAR} is filled in"},
        "allow": {**_TEXTS, "description": "Patterns of the tools that may be used; all if not given"},
        "ask": {**_TEXTS, "description": "Patterns of those for which a person is asked each time"},
        "deny": {**_TEXTS, "description": "Patterns of those that may not"},
        "startup_timeout": {**_DURATION, "description": "30s if not given"},
        "startupTimeout": {**_DURATION, "description": "Another spelling of startup_timeout", "deprecated": True},
        "timeout": {**_DURATION, "description": "Of one call; 2m if not given"},
        "optional": {"type": "boolean", "description": "Whether one can do without it"},
    },
    "additionalProperties": False,
}

Servers = Annotated[Mapping[str, JsonValue], WithJsonSchema({"type": "object", "additionalProperties": dict(_SERVER)})]
