import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.engine.state import paths
from moot.engine.state.paths import Index, Path, PathInvalid


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("raw.files", Path("raw", "files")),
        ("state.config.retries", Path("state", "config", ("retries",))),
        ("computed.a.0.b", Path("computed", "a", ("0", "b"))),
        ('raw.results["src/a.ts"].errors', Path("raw", "results", ("src/a.ts", "errors"))),
        ("raw.results['it\\'s']", Path("raw", "results", ("it's",))),
        ("raw.list[2]", Path("raw", "list", ("2",))),
        ("raw.results.src/a", Path("raw", "results", ("src/a",))),
    ],
)
def test_a_path_is_read_key_by_key(text: str, path: Path) -> None:
    assert paths.parse(text) == path


KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.integers(0, 99).map(str)
PLACES = st.integers(0, 99).map(lambda number: Index(str(number)))


@given(KEYS, st.lists(KEYS | PLACES))
def test_whatever_the_keys_a_path_is_read_as_it_is_spelled(field: str, keys: list[str]) -> None:
    path = Path("raw", field, tuple(keys))
    if "__proto__" not in (field, *keys):
        found = paths.of(paths.split(str(path)))
        assert found == path
        assert [type(key) for key in found.rest] == [type(key) for key in keys]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "raw",
        "files",
        "other.a",
        "raw.",
        "raw..a",
        'raw.a["b',
        "raw.a[b]",
        "raw.__proto__.x",
        'raw[""]',
        f"raw{'.a' * 200}",
    ],
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(PathInvalid):
        paths.parse(text)


def test_what_is_computed_cannot_be_written() -> None:
    with pytest.raises(PathInvalid, match="is computed"):
        paths.writable(paths.parse("computed.a"))
    assert paths.writable(paths.parse("state.a")) == Path("state", "a")
