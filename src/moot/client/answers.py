"""What a tool of another server came back with, as text."""

from collections.abc import Mapping
from typing import cast

from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
)

from moot.client.offer import Answer, Offer
from moot.core import json
from moot.core.json import Json

_MOST_WORDS = 4_000
_MOST_SCHEMA = 50_000
_OPEN: Mapping[str, Json] = {"type": "object", "additionalProperties": True}
_REFUSED = ("anyOf", "oneOf", "allOf", "not", "$ref", "enum")  # at the top, by providers of models


def answer(result: CallToolResult) -> Answer:
    text = "\n".join(_part(one) for one in result.content)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content)
    return Answer(text, bool(result.is_error))


def offer(tool: Tool) -> Offer:
    schema = cast(Mapping[str, Json], tool.input_schema)
    words = (tool.description or "").strip()
    if not _is_usable(schema):
        written = json.dumps(schema)
        told = f" Its arguments: {written}" if len(written) < _MOST_WORDS // 2 else ""
        schema, words = _OPEN, f"{words[: _MOST_WORDS // 2]}{told}".strip()
    is_read_only = tool.annotations is not None and tool.annotations.read_only_hint is True
    return Offer(tool.name, words[:_MOST_WORDS], schema, is_read_only)


def _is_usable(schema: Mapping[str, Json]) -> bool:
    """Whether a provider will take it: one wrong schema, and it refuses the whole request."""
    import jsonschema  # noqa: PLC0415  # it comes with the library, and is only needed here

    if any(key in schema for key in _REFUSED) or len(json.dumps(schema)) > _MOST_SCHEMA:
        return False
    try:
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except (jsonschema.SchemaError, RecursionError):
        return False
    return True


def _part(part: ContentBlock) -> str:
    match part:
        case TextContent(text=text):
            return text
        case ImageContent() | AudioContent():
            return f"[omitted: {part.type}, {part.mime_type}, {len(part.data) * 3 // 4:,} bytes]"
        case ResourceLink(uri=uri, name=name):
            return f"[link: {name}, {uri}]"
        case EmbeddedResource(resource=TextResourceContents(text=text)):
            return text
        case EmbeddedResource(resource=resource):
            return f"[omitted: resource, {resource.uri}]"
