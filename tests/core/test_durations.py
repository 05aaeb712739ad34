"""Durations are read as people write them, and spelled so that a status line can hold them."""

from datetime import timedelta

import pytest

from moot.core import durations
from moot.core.errors import InvalidInput


@pytest.mark.parametrize(
    ("spelling", "seconds"),
    [("500ms", 0.5), ("30s", 30), ("5m", 300), ("2h", 7200), ("1d", 86400), ("1.5 h", 5400), (" 0s ", 0)],
)
def test_a_number_and_a_unit_are_a_duration(spelling: str, seconds: float) -> None:
    assert durations.parse(spelling) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "spelling",
    ["", "5", "s", "-1s", "1 week", "1e3s", "١s", "1s\n2s", "1_0s", ".5s", "9" * 30 + "d", "9" * 400 + "s"],  # noqa: RUF001
)
def test_anything_else_is_refused_in_words(spelling: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        durations.parse(spelling)
    assert refused.value.code == "INVALID_INPUT"
    assert refused.value.remedy
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize(
    ("seconds", "spelled"),
    [
        (0, "0.0 s"),
        (0.44, "0.4 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (12.2, "12 s"),
        (59.4, "59 s"),
        (59.7, "1 m 0 s"),
        (200, "3 m 20 s"),
        (3599.6, "1 h 0 m"),
        (7500, "2 h 5 m"),
    ],
)
def test_a_duration_is_spelled_short(seconds: float, spelled: str) -> None:
    assert durations.spell(timedelta(seconds=seconds)) == spelled
