"""Moments are stored as whole microseconds and come back as they went in."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from moot.core import clock
from moot.core.clock import SystemClock
from moot.testing.clock import ManualClock

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
AWARE = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=ZONES)  # noqa: DTZ001  # zones follow


@given(AWARE)
def test_any_moment_survives_the_way_into_the_store_and_back(moment: datetime) -> None:
    assert clock.from_micros(clock.to_micros(moment)) == moment


def test_the_last_microsecond_of_the_calendar_is_exact() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    assert clock.to_micros(last) == 253_402_300_799_999_999
    assert clock.from_micros(253_402_300_799_999_999) == last


def test_a_moment_before_1970_is_negative() -> None:
    assert clock.to_micros(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1


def test_a_moment_is_shown_in_utc_with_six_digits() -> None:
    there = datetime(2026, 1, 31, 11, 30, tzinfo=timezone(timedelta(hours=2)))
    assert clock.to_iso(there) == "2026-01-31T09:30:00.000000Z"


def test_shown_moments_sort_as_text() -> None:
    moments = [datetime(year, 6, 1, 1, 2, 3, micro, tzinfo=UTC) for year in (7, 987, 2026) for micro in (0, 5, 123_456)]
    shown = [clock.to_iso(moment) for moment in moments]
    assert shown == sorted(shown)
    assert [datetime.fromisoformat(one) for one in shown] == moments


def test_the_system_clock_speaks_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert now.utcoffset() == timedelta(0)
    assert timedelta(0) <= now - before < timedelta(seconds=5)


def test_both_clocks_tell_the_same_in_microseconds() -> None:
    system, manual = SystemClock(), ManualClock()
    before = clock.to_micros(system.now())
    assert before <= system.micros() <= clock.to_micros(system.now())
    manual.advance(1.5)
    assert manual.micros() == clock.to_micros(manual.now())
