"""What goes into an agent and what comes out of it."""

from collections.abc import Mapping
from typing import Any, Literal

from moot.core.records import record


@record
class Format:
    """Words, or JSON of a certain shape."""

    kind: Literal["markdown", "json"] = "markdown"
    schema: Mapping[str, Any] | None = None  # of JSON; pydantic reads it, and could not if that was said


MARKDOWN = Format()
