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
