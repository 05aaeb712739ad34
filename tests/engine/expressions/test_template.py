import pytest

from moot.core.errors import MootError
from moot.engine.expressions import template
from moot.engine.expressions.template import Expression, TemplateInvalid


def test_a_text_is_cut_into_what_is_said_and_what_is_evaluated() -> None:
    found = template.parse("{{ done }} of {{ files.length }} files")
    assert found.parts == (
        Expression("done", source="{{ done }}"),
        " of ",
        Expression("files.length", source="{{ files.length }}"),
        " files",
    )
    assert (found.lone, found.text) == (None, None)


def test_a_lone_expression_is_known_as_one() -> None:
    assert template.parse(" {{ {a: {b: 1}} }}\n").lone == Expression("{a: {b: 1}}", source="{{ {a: {b: 1}} }}")
    assert template.parse("plain").text == "plain"
    assert template.parse("").text == ""


@pytest.mark.parametrize(
    ("text", "code", "filters"),
    [
        ("{{ item | path_to_key }}", "item", ("path_to_key",)),
        ("{{ name | trim | upper }}", "name", ("trim", "upper")),
        ("{{ a || length }}", "a || length", ()),
        ("{{ a | mask }}", "a | mask", ()),
        ("{{ f(a | length) }}", "f(a | length)", ()),
        ("{{ '| upper' }}", "'| upper'", ()),
    ],
)
def test_only_a_known_word_behind_a_bar_is_a_filter(text: str, code: str, filters: tuple[str, ...]) -> None:
    found = template.parse(text).lone
    assert found is not None
    assert (found.code, found.filters) == (code, filters)


def test_three_braces_are_raw() -> None:
    found = template.parse("ls {{{ flags }}} {{ path }}").expressions
    assert [(one.code, one.is_raw) for one in found] == [("flags", True), ("path", False)]


@pytest.mark.parametrize("text", ["{{ a", "{{ a }", "{{ }}", "{{{ a }}", "{{ 'a }}", "{{ (a }}"])
def test_what_is_not_closed_or_empty_is_refused(text: str) -> None:
    with pytest.raises(MootError):
        template.parse(text)


def test_a_condition_needs_no_braces_but_is_one_expression() -> None:
    assert template.condition("{{ a > 1 }}").code == template.condition("a > 1").code == "a > 1"
    with pytest.raises(TemplateInvalid):
        template.condition("{{ a }} and {{ b }}")


def test_brackets_without_end_are_read_without_harm() -> None:
    with pytest.raises(MootError):
        template.parse("{{ " + "`${" * 5000)
