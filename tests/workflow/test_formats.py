"""What one agent reports is what the next one takes."""

import pytest

from moot.core.formats import Format
from moot.core.json import Json
from moot.workflow import formats
from moot.workflow.shape import FormatShape

WORDS, JSON = Format(), Format("json")


def of(*required: str, title: str = "x") -> Format:
    return Format("json", {"type": "object", "title": title, "required": list(required)})


def typed(said: Json) -> Format:
    return Format("json", {"type": "object", "properties": {"a": {"type": said}}})


@pytest.mark.parametrize(
    ("output", "input", "fact"),
    [
        (WORDS, WORDS, None),
        (JSON, WORDS, None),
        (of("a"), WORDS, None),
        (JSON, JSON, None),
        (of("a"), JSON, None),
        (of("a"), of("a"), None),
        (of("a", "b"), of("a"), None),
        (JSON, of(), None),
        (WORDS, JSON, "its output is markdown, and that one takes json"),
        (WORDS, of("a"), "its output is markdown, and that one takes json"),
        (JSON, of("a"), "that one requires `a`, which its output need not have"),
        (of("a", title="y"), of("a", "b", "c"), "that one requires `b`, `c`, which its output need not have"),
        (typed("string"), typed("integer"), "that one takes `a` of another type than its output has"),
        (typed(["string", "null"]), typed("number"), "that one takes `a` of another type than its output has"),
        (typed("integer"), typed("number"), None),
        (typed(["string", "integer"]), typed("integer"), None),
        (JSON, typed("integer"), None),
        (typed("integer"), of(), None),
    ],
)
def test_an_output_is_taken_or_it_is_said_why_not(output: Format, input: Format, fact: str | None) -> None:
    found = formats.mismatch(output, input)
    assert (None if found is None else found[0]) == fact


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (None, WORDS),
        ("markdown", WORDS),
        ("json", JSON),
        ({"format": "json"}, JSON),
        ({"schema": {"type": "object"}}, Format("json", {"type": "object"})),
        ({"format": "markdown"}, WORDS),
        ({}, WORDS),
    ],
)
def test_a_format_is_a_word_or_has_a_schema(said: object, found: Format) -> None:
    written = FormatShape.model_validate(said) if isinstance(said, dict) else said
    assert formats.read(written) == found  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"name": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/name"}}},
        {"$defs": {"name": {"$anchor": "here"}}, "items": {"$ref": "#here"}},
        {"$defs": {"own": {"$id": "http://e/own", "$ref": "#/$defs/y", "$defs": {"y": True}}}},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"const": {"$ref": "#/none"}, "enum": [{"$ref": "#/none"}]},
        {"properties": {"$ref": {"type": "string"}}},
    ],
)
def test_a_reference_within_the_schema_is_good_and_data_is_none(schema: dict[str, Json]) -> None:
    assert formats.fault(Format("json", schema), ("output",)) is None
