"""JavaScript that cannot be read is found without carrying anything out."""

import pytest

from moot.engine.expressions import syntax


def fault(code: str) -> str | None:
    return next(syntax.faults([code]))


@pytest.mark.parametrize(
    "code",
    [
        "input.length",
        "{a: 1}",
        "input\n  .filter(x => x)\n  .map(x => ({...x}))",
        "const y = input; return y + 1",
        "try { return JSON.parse(input) } catch (e) { return {} }",
        "while (true) {} return 1",  # never begun
        "input?.a ?? `${b}`",
    ],
)
def test_what_can_be_read_is_well(code: str) -> None:
    assert fault(code) is None


@pytest.mark.parametrize("code", ["x +", "input.map(x => ", "b c", "return y +", "(", "const y = 1", "a b; return 1"])
def test_what_cannot_be_read_is_told_in_the_words_of_javascript(code: str) -> None:
    assert (fault(code) or "").startswith("SyntaxError: ")


def test_a_text_that_ends_its_function_does_nothing() -> None:
    ending = "1})(); globalThis.was_here = true; (function(){return (2"
    assert [one is None for one in syntax.faults([ending, "typeof was_here", "was_here"])] == [False, True, True]


def test_what_nests_too_deep_is_refused_and_the_next_is_read() -> None:
    deep = "(" * 100_000 + "1" + ")" * 100_000
    assert [one is None for one in syntax.faults([deep, "1 + 1"])] == [False, True]
