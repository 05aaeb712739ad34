"""Tools as MCP describes them. Computed once a tool: making a schema costs more than a call."""

from collections.abc import Mapping
from functools import cache

from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from moot.core import json, tool_schemas
from moot.core.json import Json
from moot.core.tool import Tool
from moot.tools import spellings
from moot.tools.spellings import Spelling


@cache
def described(tool: Tool, spelling: Spelling = "underscored") -> McpTool:
    return McpTool(
        name=spellings.spelled(tool.name, spelling),
        description=spellings.in_words(tool.words, spelling),
        input_schema=_in_words(tool_schemas.arguments(tool), spelling),
        output_schema=None if tool.is_text_only else _in_words(tool_schemas.result(tool), spelling),
        annotations=ToolAnnotations(
            read_only_hint=tool.effect == "none",
            destructive_hint=False if tool.effect == "none" else None,
            open_world_hint=tool.effect == "outside",
        ),
    )


def _in_words(schema: Mapping[str, Json], spelling: Spelling) -> dict[str, Json]:
    """With the tools that its words name in this spelling."""
    return json.load_object(spellings.in_words(json.dumps(schema), spelling))
