from typing import Any

import pytest

from moot.core.json import Json
from moot.engine.state import paths
from moot.engine.state.operations import MISSING, Operation, Present, Update, UpdateRefused, apply


def change(there: Present, path: str, operation: Operation = "set", value: Json = None) -> Json:
    return apply(there, Update(paths.parse(path), operation, value))


@pytest.mark.parametrize(
    ("there", "path", "operation", "value", "after"),
    [
        (1, "raw.a", "set", 2, 2),
        (MISSING, "raw.a.b.c", "set", 1, {"b": {"c": 1}}),
        ({"b": 1}, 'raw.a["c.d"]', "set", 2, {"b": 1, "c.d": 2}),
        ([1, 2], "raw.a.1", "set", 5, [1, 5]),
        ([1], "raw.a.1.x", "set", 5, [1, {"x": 5}]),
        (MISSING, "raw.a[0]", "set", 1, [1]),
        (None, "raw.a[0].b[0]", "append", 1, [{"b": [[1]]}]),
        ({}, "raw.a.b[0]", "increment", 1, {"b": [1]}),
        ({"0": 1}, "raw.a[0]", "set", 2, {"0": 2}),
        (MISSING, "raw.a.0", "set", 1, {"0": 1}),
        (MISSING, 'raw.a["0"]', "set", 1, {"0": 1}),
        (MISSING, "raw.a", "append", 1, [1]),
        (None, "raw.a", "append", 1, [1]),
        ([1], "raw.a", "append", [2], [1, [2]]),
        (MISSING, "raw.a", "increment", 1, 1),
        (2, "raw.a", "increment", 0.5, 2.5),
        (5, "raw.a", "increment", -2, 3),
        (MISSING, "raw.a", "merge", {"x": 1}, {"x": 1}),
        ({"x": 1, "y": {"z": 1}}, "raw.a", "merge", {"y": 2}, {"x": 1, "y": 2}),
    ],
)
def test_what_is_there_is_changed(there: Any, path: str, operation: Operation, value: Json, after: Json) -> None:
    kept = repr(there)
    assert change(there, path, operation, value) == after
    assert repr(there) == kept


@pytest.mark.parametrize(
    ("there", "path", "operation", "value"),
    [
        ("text", "raw.a.b", "set", 1),
        ([1], "raw.a.5", "set", 1),
        ([1], "raw.a.x", "set", 1),
        (MISSING, "raw.a[1]", "set", 1),
        (None, "raw.a[0][1]", "append", 1),
        ("text", "raw.a", "append", 1),
        ("1", "raw.a", "increment", 1),
        (True, "raw.a", "increment", 1),
        (2, "raw.a", "increment", "1"),
        (2, "raw.a", "increment", None),
        ([], "raw.a", "merge", {}),
        ({}, "raw.a", "merge", 1),
    ],
)
def test_what_cannot_be_changed_so_is_refused(there: Any, path: str, operation: Operation, value: Json) -> None:
    with pytest.raises(UpdateRefused):
        change(there, path, operation, value)
