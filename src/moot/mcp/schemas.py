"""Tools as MCP describes them. Computed once a tool: making a schema costs more than a call."""

from functools import cache

from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from moot.core import tool_schemas
from moot.core.tool import Tool


@cache
def described(tool: Tool) -> McpTool:
    return McpTool(
        name=tool.name,
        description=tool.words,
        input_schema=dict(tool_schemas.arguments(tool)),
        output_schema=None if tool.is_text_only else dict(tool_schemas.result(tool)),
        annotations=ToolAnnotations(
            read_only_hint=tool.effect == "none",
            destructive_hint=False if tool.effect == "none" else None,
            open_world_hint=tool.effect == "outside",
        ),
    )
