import copy
import pickle
from dataclasses import KW_ONLY, asdict, field, fields, replace
from typing import Any

import pytest

from moot.core import records
from moot.core.records import record


@record
class Note:
    text: str
    number: int = 1
    tags: list[str] = field(default_factory=list[str])
    secret: str = field(default="", repr=False)
    remark: str = field(default="", compare=False)


@record
class Signed(Note):
    _: KW_ONLY
    by: str


@record
class Measured:
    text: str
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.text))


@record
class Nothing:
    """Has no field."""


@record
class Nothing2:
    """Has no field either."""


def test_fields_are_given_in_order_or_by_name_and_have_defaults() -> None:
    note = Note("a", tags=["x"])
    assert (note.text, note.number, note.tags, note.secret) == ("a", 1, ["x"], "")
    assert Note("a").tags is not Note("b").tags


def test_the_first_of_a_class_is_made_like_those_after_it() -> None:
    @record
    class Fresh:
        text: str

    assert Fresh("a") == Fresh(text="a")


def test_a_missing_and_an_unknown_field_are_told_by_name() -> None:
    make: Any = Note
    with pytest.raises(TypeError, match=r"Note.__init__\(\) missing 1 required positional argument: 'text'"):
        make()
    with pytest.raises(TypeError, match=r"Note.__init__\(\) got an unexpected keyword argument 'nobody'"):
        make("a", nobody=1)


def test_records_are_equal_if_they_are_of_one_class_and_all_that_is_compared_is() -> None:
    assert Note("a", remark="x") == Note("a", remark="y")
    assert Note("a") != Note("a", 2)
    assert Note("a") != Signed("a", by="me")
    assert Nothing() == Nothing()
    assert Nothing() != Nothing2()
    assert Measured("a") != "a"


def test_equal_records_have_one_hash() -> None:
    assert len({Measured("a"), Measured("a"), Measured("b"), Nothing(), Nothing()}) == 3


def test_what_is_secret_is_not_shown() -> None:
    assert repr(Note("a", secret="s")) == "Note(text='a', number=1, tags=[], remark='')"
    assert repr(Nothing()) == "Nothing()"


def test_a_record_can_have_the_fields_of_another_and_some_by_name_only() -> None:
    signed = Signed("a", 2, by="me")
    assert (signed.text, signed.number, signed.by) == ("a", 2, "me")
    assert isinstance(signed, Note)
    make: Any = Signed
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'by'"):
        make("a")


def test_what_comes_of_the_fields_is_made_after_them() -> None:
    assert Measured("abc").size == 3
    assert replace(Measured("abc"), text="a").size == 1


def test_a_record_has_no_room_for_more_than_its_fields() -> None:
    note: Any = Note("a")
    with pytest.raises(AttributeError):
        note.other = 1


def test_the_standard_library_takes_a_record_for_a_dataclass() -> None:
    assert [one.name for one in fields(Signed)] == ["text", "number", "tags", "secret", "remark", "by"]
    assert asdict(Measured("ab")) == {"text": "ab", "size": 2}
    assert replace(Note("a"), number=3) == Note("a", 3)
    match Note("a", 5):
        case Note(text, number):
            assert (text, number) == ("a", 5)
    assert (
        copy.deepcopy(Note("a", tags=["x"])) == pickle.loads(pickle.dumps(Note("a", tags=["x"]))) == Note("a", 1, ["x"])
    )


def test_a_record_can_be_had_with_changes_and_stays_as_it_was() -> None:
    note = Signed("a", 2, ["x"], by="me")
    changed = records.replace(note, text="b", by="you")
    assert (changed.text, changed.number, changed.tags, changed.by) == ("b", 2, ["x"], "you")
    assert type(changed) is Signed
    assert (note.text, note.by) == ("a", "me")
    assert records.replace(Measured("abc"), text="a").size == 1
    with pytest.raises(AttributeError):
        records.replace(note, other=1)
