"""A hand-off has four parts, each with something in it."""

import pytest

from moot.teams import handoffs
from moot.teams.handoffs import Handoff, HandoffRefused

GOOD = "done: a; evidence: make test; risk: none; next: b"


def test_a_handoff_is_taken_apart() -> None:
    assert handoffs.parse(GOOD) == Handoff("a", "make test", "none", "b")
    assert handoffs.parse(f"  {GOOD.upper()}\n") == Handoff("A", "MAKE TEST", "NONE", "B")


def test_parts_may_be_long_and_have_semicolons_in_them() -> None:
    text = "done: a; b\nand c; evidence: x; y; risk: none; next: d"
    assert handoffs.parse(text) == Handoff("a; b\nand c", "x; y", "none", "d")


@pytest.mark.parametrize(
    "text",
    ["", "done", "done: a", "done: a; evidence: b; risk: c", "done: ; evidence: b; risk: c; next: d",
     "evidence: b; done: a; risk: c; next: d", f"It is: {GOOD}", handoffs.TEMPLATE],
)  # fmt: skip
def test_anything_else_is_refused_with_the_form(text: str) -> None:
    assert handoffs.parse(text) is None
    with pytest.raises(HandoffRefused) as refused:
        handoffs.check(text)
    assert handoffs.TEMPLATE in refused.value.remedy


@pytest.mark.parametrize("words", [GOOD, f"I did it.\n\n{GOOD}", f"I did it.\n{GOOD}", f"So:\n\n`{GOOD}`\n"])
def test_the_end_of_what_somebody_says_may_be_one(words: str) -> None:
    assert handoffs.last(words) == GOOD


@pytest.mark.parametrize("words", ["", "done", f"{GOOD}\n\nand more words", f"first {GOOD} in a sentence"])
def test_what_stands_before_the_end_is_none(words: str) -> None:
    assert handoffs.last(words) is None
