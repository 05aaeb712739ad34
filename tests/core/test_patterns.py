"""Patterns are found as Python finds them, and none holds everything else up."""

import contextlib
import re
import sys
import time

import pytest

from moot.core import patterns
from moot.core.patterns import PatternTooSlow

BOTH = [r"(\S+) REVIEW", r"please (\S+)(?: now)?|x", r"(a)?(b)?$", r"(?P<who>\w+)\s+\1", "nothing+ of* it"]


@pytest.mark.parametrize("pattern", BOTH)
@pytest.mark.parametrize("text", ["Please review now", "well well", "ab", "please review " * 1000])
def test_a_pattern_is_found_as_python_finds_it(pattern: str, text: str) -> None:
    found = re.search(pattern, text, re.IGNORECASE)
    assert patterns.search(pattern, text) == (None if found is None else tuple(one or "" for one in found.groups()))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a|aa)+$", "a" * 60 + "b"),
        (r"(x*)*(x*)*y", "x" * 50_000),
        ("(?:a?){40}a{40}!" + "a?" * 30, "a" * 39),
        (r"\s+$", " " * 100_000 + "x"),
    ],
)
def test_a_search_is_given_up_soon(pattern: str, text: str) -> None:
    began = time.monotonic()
    with contextlib.suppress(PatternTooSlow):
        assert patterns.search(pattern, text) is None
    assert time.monotonic() - began < 5.0  # and not years


def test_one_that_has_to_be_given_up_is_refused_by_name() -> None:
    with pytest.raises(PatternTooSlow, match=re.escape("'(a|aa)+$' in 61 characters")):
        patterns.search(r"(a|aa)+$", "a" * 60 + "b")


def test_plain_words_need_nothing_but_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    assert patterns.search("look", "x" * 100_000 + "LOOK") == ()
    assert patterns.search(r"review (\S+)", "please review a.py") == ("a.py",)


@pytest.mark.parametrize("pattern", ["HEAD", "^HEAD$", "^(HEAD|branch .+)$"])
def test_the_case_of_letters_counts_where_that_is_asked_for(pattern: str) -> None:
    assert patterns.search(pattern, "head") is not None
    assert patterns.search(pattern, "head", minds_case=True) is None
    assert patterns.search(pattern, "HEAD", minds_case=True) is not None
