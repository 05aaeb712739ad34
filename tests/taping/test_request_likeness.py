"""What a model is asked is compared with what it was asked; the moment at which it read something is not."""

from dataclasses import replace

import pytest

from moot.models.model import Answer, Call, Request, Result, Results, Said, ToolSpec
from moot.taping.replaying import request_likeness
from moot.taping.replaying.drifts import difference
from moot.taping.replaying.exchanges import Exchange, ToldResult
from moot.taping.tape import Asked

FIRST = Exchange(Asked("a", "ann", "t1/m", 1, "x"), "Do it.", (), "Be kind.", ("vote",), (), None, is_given_up=False)
TOLD = ToldResult("vote", "Vote recorded for prop-001.", is_error=False, is_reading=False)
SECOND = replace(FIRST, words="", results=(TOLD,))
ASKED = Request((Said("Do it."),), "Be kind.", (ToolSpec("vote", "Vote.", {}),))


def told(text: str, *, tool: str = "vote", is_error: bool = False) -> Request:
    results = Results((Result(Call("c", tool, "{}"), text, is_error),))
    return replace(ASKED, messages=(*ASKED.messages, Answer(), results))


def compared(recorded: Exchange, request: Request, messages: int) -> list[str]:
    return list(request_likeness.compare(recorded, request, messages, str.strip))


@pytest.mark.parametrize(
    ("request_", "fact"),
    [
        (replace(ASKED, system="Be curt."), "the system prompt differs: 'Be curt.' instead of 'Be kind.'"),
        (replace(ASKED, messages=(Said("Do that."),)), "the prompt differs: 'Do that.' instead of 'Do it.'"),
        (replace(ASKED, tools=(ToolSpec("ask", "", {}),)), "the tools differ: without vote and with ask"),
        (replace(ASKED, max_tokens=9), "the most tokens of an answer were open and are 9"),
    ],
)
def test_the_first_request_is_compared_with_all_that_a_session_starts_with(request_: Request, fact: str) -> None:
    assert compared(FIRST, ASKED, 0) == []
    assert compared(FIRST, request_, 0) == [fact]


def test_of_the_next_only_what_is_new_is_compared() -> None:
    later = told("Vote recorded for prop-007.")
    assert compared(SECOND, later, 1) == []
    assert compared(SECOND, replace(later, system="Be curt."), 1) == []
    assert compared(SECOND, told("NOT_FOUND: no.", is_error=True), 1) == [
        "the answer of vote differs: 'NOT_FOUND: no.' instead of 'Vote recorded for ….'"
    ]
    assert compared(SECOND, told("x", tool="ask"), 1) == ["it is told of ask instead of vote"]
    assert compared(replace(SECOND, words="New mail."), later, 1) == [
        "what it is told differs: '' instead of 'New mail.'"
    ]


def test_what_was_only_read_may_be_another_but_not_refused() -> None:
    reading = replace(SECOND, results=(replace(TOLD, is_reading=True),))
    assert compared(reading, told("Another list."), 1) == []
    assert compared(reading, told("No.", is_error=True), 1) == [
        "the answer of vote differs: 'No.' instead of 'Vote recorded for ….'"
    ]


def test_a_difference_is_shown_where_it_is() -> None:
    assert difference("a\nb", "a\nc\nd") == "'c' instead of 'b'"
    assert difference("a", "a\nb") == "'b' instead of ''"
    long = "x" * 200
    assert difference(f"{long}old", f"{long}new") == f"'…{'x' * 20}new' instead of '…{'x' * 20}old'"
