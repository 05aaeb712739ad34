"""Values are put into texts once, and wake nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bus import mentions
from moot.workflow import templates
from moot.workflow.templates import VariableUnknown
from moot.workflow.workflow import Value

TEXTS = st.text(max_size=60) | st.sampled_from(
    ["${{ a }}", "${{ b }}", "@coder", "`", "```\n@lead", "{{ a }}", "}}", ""]
)


def test_values_are_put_in_as_they_are() -> None:
    values: dict[str, Value] = {
        "diff": "a\n- b",
        "inputs.n": 4,
        "inputs.x": 2.5,
        "inputs.whole": 3.0,
        "inputs.yes": True,
        "inputs.list": ("a", 1, False),
        "inputs.none": None,
    }
    text = "${{diff}}|${{ inputs.n }}|${{inputs.x }}|${{ inputs.whole }}|${{ inputs.yes }}|${{ inputs.list }}|"
    text += "${{ inputs.none }}|$diff {{ diff }}"
    assert templates.expand(text, values).text == "a\n- b|4|2.5|3|true|a, 1, false||$diff {{ diff }}"


def test_a_text_in_quotes_stands_for_itself() -> None:
    text = """${{ '${{ diff }}' }} ${{ "{{ x }}" }} ${{ "it's" }}"""
    assert templates.expand(text, {}).text == "${{ diff }} {{ x }} it's"
    assert list(templates.faults(text)) == []


def test_an_unknown_variable_is_refused_with_the_nearest() -> None:
    with pytest.raises(VariableUnknown, match="no variable `dif`") as caught:
        templates.expand("${{ dif }}", {"diff": ""})
    assert caught.value.remedy == "Did you mean `diff`?"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("a ${{ b", "`${{` is not closed on its line"),
        ("a ${{ b\n }}", "`${{` is not closed on its line"),
        ("${{ a b }}", "`a b` is no name of a variable"),
        ("${{ a.b.c }}", "`a.b.c` is no name of a variable"),
        ("${{ }}", "`` is no name of a variable"),
        ("${{ a | upper }}", "`a | upper` is no name of a variable"),
        ("${{ 1a }}", "`1a` is no name of a variable"),
        ("${{ ${{ a }} }}", "`${{` is not closed on its line"),
    ],
)
def test_what_only_looks_like_a_variable_is_found(text: str, fact: str) -> None:
    assert fact in [found for _, found, _ in templates.faults(text)]


@given(a=TEXTS, b=TEXTS)
def test_a_value_is_never_expanded_again(a: str, b: str) -> None:
    text = "x ${{ a }} y ${{ b }} z"
    assert templates.expand(text, {"a": a, "b": b}).text == f"x {a} y {b} z"


@given(value=TEXTS)
def test_a_value_wakes_nobody_and_hushes_nobody(value: str) -> None:
    text = "@lead please read ${{ v }} and tell @coder, not `${{ v }} @ana`."
    found = templates.expand(text, {"v": value})
    assert mentions.names(found.spoken) == ["lead", "coder"]


@pytest.mark.parametrize(
    ("text", "value", "mentioned"),
    [
        ("@${{ v }}", "coder", []),
        ("x${{ v }}@coder", "y", []),
        ("${{ v }}@coder", "at ", ["coder"]),
        ("@coder${{ v }}", "s", []),
        ("@coder${{ v }}", ".", ["coder"]),
        ("@co${{ v }}der", "-", []),
    ],
)
def test_who_is_mentioned_beside_a_value_is_who_is_in_the_text(text: str, value: str, mentioned: list[str]) -> None:
    found = templates.expand(text, {"v": value})
    assert mentions.names(found.spoken) == mentioned


@given(text=st.text(alphabet="${} '\"ab.\n@`", max_size=40))
def test_any_text_is_either_expanded_or_refused(text: str) -> None:
    known = {one.name for one in templates.places(text) if one.name is not None}
    found = templates.expand(text, dict.fromkeys(known, "v"))
    if not templates.places(text):
        assert (found.text, found.spoken) == (text, text)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("{{ a }}", ["a"]),
        ("${{ a }}", []),
        ("${{ '{{ a }}' }}", []),
        ("{{{ a }}}", []),
        ("{{ a.length > 0 }} and {{ b }}", ["a.length > 0", "b"]),
        ("{ a }", []),
    ],
)
def test_the_braces_of_steps_are_told_from_variables(text: str, inside: list[str]) -> None:
    assert [found for _, found in templates.step_time(text)] == inside
