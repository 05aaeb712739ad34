"""JavaScript that cannot be read is found without carrying anything out."""

import pytest

from moot.engine.expressions import syntax


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
    assert syntax.fault(code) is None


@pytest.mark.parametrize("code", ["x +", "input.map(x => ", "b c", "return y +", "(", "const y = 1", "a b; return 1"])
def test_what_cannot_be_read_is_told_in_the_words_of_javascript(code: str) -> None:
    assert (syntax.fault(code) or "").startswith("SyntaxError: ")


def test_a_text_that_ends_its_function_does_nothing() -> None:
    assert syntax.fault("1})(); globalThis.was_here = true; (function(){return (2") is not None
    assert syntax.fault("typeof was_here") is None
    assert syntax.fault("was_here") is None  # a name that nobody knows is nothing wrong in what is written


def test_what_nests_too_deep_is_refused_and_the_next_is_read() -> None:
    assert syntax.fault("(" * 100_000 + "1" + ")" * 100_000) is not None
    assert syntax.fault("1 + 1") is None
