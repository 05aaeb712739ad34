"""Text from outside is taken as it is, or refused."""

import pytest

from moot.core import text
from moot.core.errors import InvalidInput


@pytest.mark.parametrize(
    "words",
    ["", "plain", "two\nlines\t", "ünï ✓ 🙂", "\u200b", "\x01\x7f", "a" * 1_000_000],
    ids=lambda words: ascii(words)[:12],
)
def test_ordinary_text_is_not_changed(words: str) -> None:
    assert text.clean(words, "message") == words


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("a\0b", "The message contains a NUL character."),
        ("ab\ud800c", "The message is not valid Unicode (lone surrogate at 2)."),
        ("a" * 1_000_001, "The message has 1,000,001 characters; at most 1,000,000 are taken."),
    ],
    ids=["NUL", "surrogate", "long"],
)
def test_what_the_databases_cannot_hold_is_refused(words: str, fact: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        text.clean(words, "message")
    assert refused.value.fact == fact


def test_a_smaller_limit_counts_characters() -> None:
    assert text.clean("ü" * 5, "name", limit=5) == "ü" * 5
    with pytest.raises(InvalidInput, match="6 characters; at most 5"):
        text.clean("ü" * 6, "name", limit=5)


@pytest.mark.parametrize(
    ("words", "shown"),
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
def test_what_would_act_on_a_terminal_is_spelled_out(words: str, shown: str) -> None:
    assert text.inert(words) == shown


def test_words_of_others_end_as_a_sentence_does() -> None:
    assert [text.sentence(one) for one in ("exit code 1", "No. \n", "Why?", "")] == ["exit code 1.", "No.", "Why?", "."]
