"""Ids say what they name, sort by age and never repeat."""

from datetime import UTC, datetime

from moot.core import ids
from moot.core.clock import to_micros

NOON = to_micros(datetime(2026, 1, 1, 12, tzinfo=UTC))


def test_an_id_is_its_prefix_and_twenty_characters_without_lookalikes() -> None:
    prefix, _, rest = ids.new("ag", NOON).partition("_")
    assert prefix == "ag"
    assert len(rest) == 20
    assert not set(rest) - set("0123456789abcdefghjkmnpqrstvwxyz")


def test_ids_of_one_moment_end_in_six_characters_of_chance_each() -> None:
    ends = [ids.new("ms", NOON)[-6:] for _ in range(1000)]
    assert len(set(ends)) == 1000
    for place in range(6):
        assert {end[place] for end in ends} == set("0123456789abcdefghjkmnpqrstvwxyz")


def test_ids_of_later_milliseconds_sort_later() -> None:
    made = [ids.new("ms", NOON + 1000 * step) for step in range(3000)]
    assert made == sorted(made)


def test_an_id_knows_its_millisecond() -> None:
    assert ids.milliseconds(ids.new("ms", NOON + 123_456)) == NOON // 1000 + 123


def test_ids_sort_over_the_whole_range_of_years() -> None:
    moments = [datetime(year, 1, 1, tzinfo=UTC) for year in (1970, 1999, 2026, 2106, 2500, 9999)]
    made = [ids.new("ms", to_micros(moment)) for moment in moments]
    assert made == sorted(made)


def test_ten_thousand_ids_of_one_moment_are_all_different_and_in_order() -> None:
    made = [ids.new("ms", NOON) for _ in range(10_000)]
    assert made == sorted(set(made))
