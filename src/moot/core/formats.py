"""What goes into an agent and what comes out of it."""

from collections.abc import Mapping
from typing import Any, Literal

from moot.core.records import record

# Of a JSON Schema, what holds no schema, and what holds schemas by names of people's own.
DATA = frozenset(("const", "enum", "default", "examples"))
NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))


@record
class Format:
    """Words, or JSON of a certain shape."""

    kind: Literal["markdown", "json"] = "markdown"
    schema: Mapping[str, Any] | None = None  # of JSON; pydantic reads it, and could not if that was said


MARKDOWN = Format()
