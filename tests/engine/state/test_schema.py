import pytest

from moot.engine.state.schema import Computed, Schema, SchemaInvalid


def computed(name: str, *sources: str, transform: str = "input") -> Computed:
    return Computed(name, sources, transform)


def test_each_field_comes_behind_what_it_is_made_from() -> None:
    schema = Schema([computed("c", "computed.b"), computed("b", "computed.a", "raw.y"), computed("a", "raw.x")])
    assert [one.name for one in schema.order] == ["a", "b", "c"]
    assert schema.dependents("raw.x") == ("a", "b", "c")
    assert schema.dependents("raw.y") == ("b", "c")
    assert schema.dependents("raw.z") == ()
    assert [one.name for one in schema.dirty(["raw.y", "computed.a"])] == ["b", "c"]
    assert schema.all_sources_of("c") == {"computed.b", "computed.a", "raw.x", "raw.y"}


def test_a_field_that_a_transform_names_is_one_that_it_is_made_from() -> None:
    used = computed("used", "raw.x", transform="input.map(one => other[one] ?? limit)")
    schema = Schema([used, computed("other", "raw.y")])
    assert schema.sources_of("used") == {"raw.x", "computed.other", "raw.limit", "state.limit"}
    assert [one.name for one in schema.order] == ["other", "used"]
    assert schema.dependents("state.limit") == ("used",)


@pytest.mark.parametrize(
    ("fields", "circle"),
    [
        ([computed("a", "computed.a")], "a → a"),
        ([computed("a", "computed.b"), computed("b", "computed.a")], "a → b → a"),
        ([computed("a", "raw.x", transform="b + input"), computed("b", "computed.a")], "a → b → a"),
    ],
)
def test_fields_made_from_each_other_are_refused(fields: list[Computed], circle: str) -> None:
    with pytest.raises(SchemaInvalid, match=circle):
        Schema(fields)


def test_a_name_that_a_transform_declares_itself_makes_no_circle() -> None:
    files = computed("files", "raw.x", transform="input.map(file => file.name)")
    assert [one.name for one in Schema([computed("file", "computed.files"), files]).order] == ["files", "file"]


def test_what_is_made_from_nothing_is_refused() -> None:
    with pytest.raises(SchemaInvalid, match=r"computed\.no"):
        Schema([computed("a", "computed.no")])


def test_a_long_chain_is_ordered() -> None:
    chain = [computed(f"f{at}", f"computed.f{at - 1}" if at else "raw.x") for at in reversed(range(3000))]
    assert len(Schema(chain).dependents("raw.x")) == 3000
