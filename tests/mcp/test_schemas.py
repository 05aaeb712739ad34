"""Schemas say what tools take and give, neither more nor less."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from moot.core.tool import Call, Tool
from moot.mcp import schemas
from moot.tools import dispatch, table


class Inner(BaseModel):
    title: str  # a property may have the name of a keyword
    note: str | None


class Outer(BaseModel):
    inner: Inner
    items: tuple[Inner, ...] = ()
    maybe: int | None
    sender: str = Field(alias="from")


async def function(call: Call, arguments: Any) -> Outer:
    raise NotImplementedError


TOOL = Tool("x", "g", "Words.", "none", Inner, Outer, function, text=str)


def test_titles_are_left_out_but_not_properties_of_that_name() -> None:
    described = schemas.described(TOOL)
    assert described.input_schema == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["title", "note"],
    }


def test_what_a_result_leaves_out_is_not_required() -> None:
    schema = schemas.described(TOOL).output_schema
    assert schema is not None
    assert schema["required"] == ["inner", "from"]
    assert schema["$defs"]["Inner"]["required"] == ["title"]
    result = Outer.model_validate({"inner": {"title": "t", "note": None}, "maybe": None, "from": "ann"})
    assert _fits(schema, result.model_dump(mode="json", exclude_none=True, by_alias=True))


def test_a_schema_is_made_once() -> None:
    assert schemas.described(TOOL) is schemas.described(TOOL)


@pytest.mark.parametrize("name", [name for name, tool in table.TOOLS.items() if not tool.is_text_only])
def test_an_empty_result_of_each_tool_fits_what_it_promises(name: str) -> None:
    """With every field that may be null being null, and every list empty."""
    tool = table.TOOLS[name]
    schema = schemas.described(tool).output_schema
    assert schema is not None
    promised = tool.result.model_json_schema()
    result = tool.result.model_validate(_least(promised, promised.get("$defs", {})))
    assert _fits(schema, dispatch.dump(result))


def _fits(schema: dict[str, Any], value: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType]


def _least(schema: dict[str, Any], named: dict[str, Any]) -> object:
    if "anyOf" in schema or not schema.keys() & {"$ref", "const", "enum", "properties", "type"}:
        return None
    if "$ref" in schema:
        return _least(named[schema["$ref"].rpartition("/")[2]], named)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "properties" in schema:
        return {field: _least(part, named) for field, part in schema["properties"].items()}
    least: dict[str, object] = {"string": "", "integer": 0, "number": 0.0, "boolean": False, "array": [], "object": {}}
    return least[schema["type"]]
