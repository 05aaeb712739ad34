"""JSON is strict: what cannot be written is refused, never changed, and so is what is not JSON."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json

INTEGERS = st.integers(-(2**63), 2**64 - 1)
SCALARS = st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)  # pyright: ignore[reportUnknownVariableType, reportUnknownLambdaType, reportUnknownArgumentType]


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@given(VALUES)  # pyright: ignore[reportUnknownArgumentType]
def test_a_value_comes_back_as_it_was_written(value: Json) -> None:
    assert json.loads(json.dumps(value)) == value
    assert json.loads(json.pretty(value)) == value
    assert json.loads(json.sorted_bytes(value)) == value


@pytest.mark.parametrize("write", [json.dumps, json.dump_bytes, json.sorted_bytes, json.pretty])
@pytest.mark.parametrize(
    "value",
    [
        "\ud800",
        {"key": ["\udfff"]},
        {"\ud800": 1},
        float("nan"),
        {"a": [None, {"b": float("inf")}]},
        (1.0, float("-inf")),
        2**64,
        -(2**63) - 1,
        {1: 2},
        b"bytes",
        {1, 2},
        nested(300),
    ],
    ids=lambda value: repr(value)[:20].encode("ascii", "backslashreplace").decode(),
)
def test_what_json_cannot_carry_is_refused(write: Callable[[object], object], value: object) -> None:
    with pytest.raises(InvalidInput, match="cannot be written as JSON"):
        write(value)


def test_null_itself_can_be_written() -> None:
    assert json.dumps({"a": None, "b": [1.5, None], "c": "null"}) == '{"a":null,"b":[1.5,null],"c":"null"}'


def test_equal_objects_have_one_sorted_spelling() -> None:
    assert json.sorted_bytes({"b": 1, "a": {"d": 2, "c": 3}}) == json.sorted_bytes({"a": {"c": 3, "d": 2}, "b": 1})


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", "[Infinity]", '"\\ud800"', b'"\xff"', "[1,]", "{'a': 1}", "1 2", "[" * 100_000, '"\0"'],
    ids=lambda text: repr(text)[:20],
)
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidInput, match="not JSON"):
        json.loads(text)


@pytest.mark.parametrize("text", ['{"a":' * 300 + "1" + "}" * 300, b"[" * 900 + b"]" * 900])
def test_what_has_more_levels_than_can_be_written_is_not_read(text: str | bytes) -> None:
    with pytest.raises(InvalidInput, match="Recursion limit"):
        json.loads(text)


def test_many_values_are_no_levels() -> None:
    text = "[" + ",".join(["{}"] * 1_000) + "]"
    assert json.loads(text) == [{}] * 1_000


@pytest.mark.parametrize("text", ["[]", "1", "null", '"{}"'])
def test_an_object_is_demanded_where_only_an_object_will_do(text: str) -> None:
    with pytest.raises(InvalidInput, match="object"):
        json.load_object(text)


def test_an_object_is_read() -> None:
    assert json.load_object('{"a": [1, null]}') == {"a": [1, None]}
