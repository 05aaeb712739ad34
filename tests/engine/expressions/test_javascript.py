import pytest

from moot.engine.expressions import javascript
from moot.engine.expressions.javascript import ScriptUnreadable


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a.b?.c[d]", "a d"),
        ("files.filter(f => !f.includes(skip))", "files skip"),
        ("input.map(({id, at: [x, y]}, n = start) => id + x + y + n + offset)", "input offset"),
        ("{total: sum, [key]: value, ...rest}", "sum key value rest"),
        ("ready ? yes : no", "ready yes no"),
        ("const n = size; let {a, b: c} = thing; return n + a + c", "size thing"),
        ("function double(x) { return x * factor }\nreturn double(count)", "factor count"),
        ("try { return JSON.parse(text) } catch (e) { return e.message }", "JSON text"),
        ("`${name} has ${list.map(one => `<${one}${end}>`)} ${'}'}`", "name list end"),
        ("a / b / c", "a b c"),
        ("/it's a \"[/`]\" test/gi.test(text) // and 'this'", "text"),
        ("'b.c' + \"it's\" /* d */ + e", "e"),
        ("x => x", ""),
        ("größe + $el + _x", "größe $el _x"),
        ("1.5e3 + .5 + 0xff + 10n", ""),
    ],
)
def test_the_names_that_a_text_does_not_declare_are_found(code: str, names: str) -> None:
    assert javascript.free_names(code) == frozenset(names.split())


@pytest.mark.parametrize(
    "inside", ["a", " {a: {b: 1}} ", "'}}'", '"}"', "`}${'}'}`", "/}/.test(x)", "f({})", "[{}][0]", "a // }\n"]
)
def test_an_expression_ends_before_the_brace_that_it_has_not_opened(inside: str) -> None:
    text = f"{{{{{inside}}}}} and more"
    assert javascript.end(text, 2) == 2 + len(inside)


@pytest.mark.parametrize("code", ["'open", "`open", "`${a", '"a\nb"'])
def test_what_is_not_closed_cannot_be_read(code: str) -> None:
    with pytest.raises(ScriptUnreadable):
        javascript.tokens(code)
