"""What we added is taken out; all else stays as somebody has made it."""

import json
from typing import Any

import pytest

from moot.backends.programs import undoing

OURS = {"servers": {"moot": 1}}


@pytest.mark.parametrize(
    ("before", "ours", "now", "left"),
    [
        ({}, OURS, {**OURS, "other": 2}, {"other": 2}),
        ({}, OURS, {"servers": {"moot": 1, "mine": 2}}, {"servers": {"mine": 2}}),
        ({"servers": {}}, OURS, {**OURS, "other": 2}, {"servers": {}, "other": 2}),
        ({"servers": {"moot": "theirs"}}, OURS, {**OURS, "other": 2}, {"servers": {"moot": "theirs"}, "other": 2}),
        ({}, OURS, {"servers": {"mine": 2}}, {"servers": {"mine": 2}}),
        ({}, OURS, {"servers": {}}, {"servers": {}}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [3, 2, 1]}, {"a": [3, 1]}),
        ({"a": [2]}, {"a": [2, 2]}, {"a": [2, 3]}, {"a": [2, 3]}),
        ({"a": 1}, {"a": 1, "b": None}, {"a": None, "b": None}, {"a": None}),
        ({}, OURS, ["another thing"], ["another thing"]),
        ({}, {"a": {"x": 1, "y": 2}}, {"a": {"x": 1}, "b": 3}, {"b": 3}),
    ],
)
def test_only_ours_is_taken_out(before: Any, ours: Any, now: Any, left: Any) -> None:
    found = undoing.without(*(json.dumps(one).encode() for one in (before, ours, now)))
    assert found is not None
    assert json.loads(found) == left


def test_where_nothing_is_left_there_is_no_file() -> None:
    ours = json.dumps(OURS).encode()
    assert undoing.without(None, ours, json.dumps(OURS, indent=4).encode()) is None
    assert undoing.without(None, ours, b'{"servers": {"moot": 1}, "other": 2}') == b'{\n  "other": 2\n}'
    assert undoing.without(b"{}", ours, ours) == b"{}"


def test_what_is_no_json_stays_as_it_is() -> None:
    assert undoing.without(b"{}", b"{}", b"// mine\n{") == b"// mine\n{"
