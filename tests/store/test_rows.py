"""Rows become records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NewType

import pytest

from moot.core.json import Json
from moot.store import rows

Name = NewType("Name", str)
MOMENT = datetime(2026, 1, 31, 9, 30, 0, 123456, tzinfo=UTC)
MICROS = 1_769_851_800_123_456


@dataclass(frozen=True, slots=True)
class Thing:
    name: Name
    seq: int
    is_new: bool
    at: datetime
    ended_at: datetime | None
    state: Literal["queued", "done"]
    data: Mapping[str, Json]
    mentions: tuple[str, ...]
    tags: list[str]
    steps: Sequence[int]
    note: str | None


COLUMNS = ("name", "seq", "is_new", "at", "ended_at", "state", "data", "mentions", "tags", "steps", "note")
ROW = ("ann", 3, 1, MICROS, None, "done", '{"a":[1,null]}', '["bob","cy"]', '["x"]', "[1,2]", None)
THING = Thing(Name("ann"), 3, True, MOMENT, None, "done", {"a": [1, None]}, ("bob", "cy"), ["x"], [1, 2], None)


def test_a_row_becomes_a_record() -> None:
    assert rows.reader(Thing, COLUMNS)(ROW) == THING


def test_columns_may_come_in_any_order_and_be_too_many() -> None:
    columns, row = ("extra", *reversed(COLUMNS)), ("ignored", *reversed(ROW))
    assert rows.reader(Thing, columns)(row) == THING
    assert rows.reader(Thing, (*COLUMNS, "extra"))((*ROW, "ignored")) == THING


def test_types_are_those_of_the_record() -> None:
    thing = rows.reader(Thing, COLUMNS)(ROW)
    assert thing.is_new is True
    assert thing.at.tzinfo is UTC
    assert isinstance(thing.mentions, tuple)


def test_a_column_that_is_missing_is_named() -> None:
    with pytest.raises(TypeError, match=r"Thing needs columns \['at', 'note'\]"):
        rows.reader(Thing, tuple(column for column in COLUMNS if column not in ("at", "note")))


@pytest.mark.parametrize(
    ("into", "stored", "read"),
    [
        (str, "ann", "ann"),
        (int, 3, 3),
        (bool, 0, False),
        (datetime, MICROS, MOMENT),
        (bytes, b"\x00", b"\x00"),
        (datetime, None, None),
        (bool, None, None),
        (int, None, None),
    ],
)
def test_a_single_value_needs_no_record(into: type[Any], stored: object, read: object) -> None:
    found = rows.reader(into, ("anything",))((stored, "ignored"))
    assert found == read
    assert type(found) is type(read)


def test_moments_before_1970_keep_their_microseconds() -> None:
    assert rows.reader(datetime, ("at",))((-1,)) == datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Counted:
    name: str
    length: int = field(init=False, default=0)


def test_what_a_record_computes_needs_no_column() -> None:
    assert rows.reader(Counted, ("name",))(("ann",)).name == "ann"
