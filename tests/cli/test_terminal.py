"""Text on its way out is made inert."""

import pytest

from moot.cli import terminal


def test_one_line_stays_one_line() -> None:
    assert terminal.one_line("a\nb\tc\r\nd") == "a\\nb c\\nd"


def test_text_that_is_said_is_inert_and_our_own_colours_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("\x1b[31m", terminal.Painted("\x1b[32mours\x1b[0m"))
    assert capsys.readouterr().out == "\\x1b[31m\x1b[32mours\x1b[0m\n"


def test_columns_are_as_wide_as_they_must_be(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.table([("A", "B", "C"), ("longer", "x", "y")], (3, 3))
    assert capsys.readouterr().out == "A       B    C\nlonger  x    y\n"
