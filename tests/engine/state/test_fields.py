import pytest

from moot.core.json import Json
from moot.engine.state import fields
from moot.engine.state.operations import MISSING
from moot.engine.state.paths import PathInvalid

KNOWN = {
    "raw.n": "1",
    "computed.n": "2",
    "state.version": '"a"',
    "raw.raw": '{"x": [5, {"a.b": null}]}',
    "in.checks/raw.hidden": "1",
    "kept.checks": '{"total": 4, "errors": {"a.ts": 1}}',
    "kept.n": "9",
    "kept.@3/own": "1",
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("n", 2),
        ("raw.n", 1),
        ("version", "a"),
        ("raw", {"x": [5, {"a.b": None}]}),
        ('raw.raw.x[1]["a.b"]', None),
        ("checks.total", 4),
        ('checks.errors["a.ts"]', 1),
    ],
)
def test_a_value_is_found_by_its_flat_name_or_by_its_full_path(path: str, value: Json) -> None:
    assert fields.look_up(KNOWN, path) == value


@pytest.mark.parametrize(
    "path",
    ["other", "raw.other", "raw.raw.x.7", "version.a", "hidden", "in", "checks.no", "kept.n", "n.checks", '["@3/own"]'],
)
def test_what_is_not_there_is_missing_and_no_error(path: str) -> None:
    assert fields.look_up(KNOWN, path) is MISSING


@pytest.mark.parametrize("path", ["", "n[", "a..b"])
def test_what_is_no_path_is_told_so(path: str) -> None:
    with pytest.raises(PathInvalid):
        fields.look_up(KNOWN, path)


def test_the_flat_view_has_what_steps_have_left_where_no_field_is_called_so() -> None:
    assert fields.flat(KNOWN) == {
        "n": 2,
        "version": "a",
        "raw": {"x": [5, {"a.b": None}]},
        "checks": {"total": 4, "errors": {"a.ts": 1}},
    }
