"""No schema stops the process that applies it, and none fetches anything."""

import asyncio

import pytest

from moot.core.json import Json
from moot.process import fitting

TWICE: dict[str, Json] = {f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 2} for number in range(40)}
NEVER: dict[str, dict[str, Json]] = {
    "pattern": {"type": "string", "pattern": "^(a+)+$"},
    "names": {"additionalProperties": False, "patternProperties": {"^(a+)+$": True}},
    "references": {"$ref": "#/$defs/d0", "$defs": {**TWICE, "d40": True}},
}
LONG = "a" * 40 + "b"


@pytest.mark.parametrize("kind", NEVER)
async def test_what_would_take_years_is_given_up_and_others_work_meanwhile(kind: str) -> None:
    value: Json = {LONG: 1} if kind == "names" else LONG
    checking = asyncio.ensure_future(fitting.mismatch(value, NEVER[kind], 1.0))
    await asyncio.sleep(0)
    assert not checking.done()
    assert await checking == "to check it by its schema takes longer than 1 s"


@pytest.mark.parametrize(
    ("schema", "good", "bad", "why"),
    [
        ({"type": "object", "required": ["a"]}, {"a": 1}, {}, "'a' is a required property"),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 1}, {"a": "x"}, "'x' is not of type 'integer' (at a)"),
        ({"pattern": "^a+$"}, "aaa", "b", "'b' does not match '^a+$'"),
        (
            {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "null"}}},
            [None],
            [1],
            "1 is not of type 'null' (at 0)",
        ),
        ({"uniqueItems": True}, [1, 2], [1, 1], "[1, 1] has non-unique elements"),
        ({"$ref": "#"}, None, 1, "it has too many levels"),
        ({"$ref": "http://127.0.0.1:9/x"}, None, 1, "its schema cannot be applied to it"),
        (
            {"type": 7},
            None,
            1,
            "its schema cannot be applied to it: 7 is not valid under any of the given schemas",
        ),
        ({"pattern": "("}, None, "a", "its schema cannot be applied to it: '(' is not a 'regex'"),
    ],
)
async def test_what_does_not_fit_is_said(schema: dict[str, Json], good: Json, bad: Json, why: str) -> None:
    assert await fitting.mismatch(bad, schema, 60.0) == why
    if good is not None:
        assert await fitting.mismatch(good, schema, 60.0) is None


async def test_a_long_value_is_checked_all_the_same() -> None:
    many: list[Json] = [{"a": number} for number in range(20_000)]
    assert await fitting.mismatch(many, {"items": {"required": ["a"]}}, 60.0) is None
    assert await fitting.mismatch([*many, {}], {"items": {"required": ["a"]}}, 60.0) == (
        "'a' is a required property (at 20000)"
    )


async def test_what_is_no_schema_is_found_out_among_others_without_a_value() -> None:
    assert await fitting.fault([{"type": "object"}, {"required": ["a"]}], 60.0) is None
    assert await fitting.fault([{"type": "object"}, {"required": 5}], 60.0) == "5 is not of type 'array'"
    large: Json = {"properties": {str(number): {"type": "string"} for number in range(50_000)}}
    assert await fitting.fault([large], 0.5) == "to read it takes longer than 0.5 s"
