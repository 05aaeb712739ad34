"""What a request may cost: counted once where it was counted before, and the same either way."""

from dataclasses import replace

from moot.models import reserving
from moot.models.model import Answer, Call, Request, Result, Results, Said, ToolSpec
from moot.session.transcript import Transcript

TOOL = ToolSpec("look", "Look at a place.", {"type": "object"})


def conversation() -> Transcript:
    found, call = Transcript(), Call("1", "look", '{"place": "here"}')
    found.hear("x" * 400)
    found.add(Answer("y" * 40, (call,)))
    found.add(Results((Result(call, "z" * 4_000),)))
    return found


def test_all_that_is_told_counts() -> None:
    told = len(TOOL.words) + len(str(TOOL.schema)) + 400 + 40 + len('{"place": "here"}') + 4_000
    assert reserving.tokens(Request(conversation().messages(), "s" * 80, (TOOL,))) == (80 + told) // 4 + 1


def test_what_was_counted_as_it_came_is_what_would_be_counted() -> None:
    said = conversation()
    request = Request(said.messages(), "s" * 80, (TOOL,))
    counted = replace(request, letters=80 + TOOL.letters + said.letters)
    assert reserving.tokens(counted) == reserving.tokens(request)


def test_what_was_counted_is_not_counted_again() -> None:
    assert reserving.tokens(Request((Said("x" * 4_000),), letters=400)) == 101


def test_models_that_refuse_long_answers_are_not_asked_for_them() -> None:
    names = (
        "openai/gpt-5",
        "anthropic/claude-opus-4-1",
        "openai/gpt-4o-mini",
        "anthropic/claude-3-5-haiku",
        "gpt-4-turbo",
    )
    assert [reserving.longest(name) for name in names] == [32_000, 32_000, 16_384, 8_192, 4_096]
