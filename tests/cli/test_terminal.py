"""Text on its way out is made inert."""

import pytest

from moot.cli import terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, naïve 漢 👩‍💻", "plain text, naïve 漢 👩‍💻"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("dos\r\nline", "dos\nline"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("bell\x07 back\x08 return\r nul\x00", r"bell\x07 back\x08 return\x0d nul\x00"),
        ("\x9b31m \x9d0;t\x9c \x7f", r"\x9b31m \x9d0;t\x9c \x7f"),
        ("\u202eabc\u202c \u2066x\u2069 \u200f", r"\u202eabc\u202c \u2066x\u2069 \u200f"),
        ("\u2028\u2029\ufeff", r"\u2028\u2029\ufeff"),
        ("\U000e0041", r"\U000e0041"),
        ("\x85next line", r"\x85next line"),
    ],
)
def test_what_would_act_on_a_terminal_is_spelled_out(text: str, shown: str) -> None:
    assert terminal.inert(text) == shown


def test_one_line_stays_one_line() -> None:
    assert terminal.one_line("a\nb\tc\r\nd") == "a\\nb c\\nd"


def test_text_that_is_said_is_inert_and_our_own_colours_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("\x1b[31m", terminal.Painted("\x1b[32mours\x1b[0m"))
    assert capsys.readouterr().out == "\\x1b[31m\x1b[32mours\x1b[0m\n"


def test_columns_are_as_wide_as_they_must_be(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.table([("A", "B", "C"), ("longer", "x", "y")], (3, 3))
    assert capsys.readouterr().out == "A       B    C\nlonger  x    y\n"
