"""What people look for, in each database's language; nothing they write is taken for syntax."""

import pytest

from moot.core.errors import InvalidInput
from moot.search import wanted
from moot.search.wanted import NothingWanted, Term


@pytest.mark.parametrize(
    ("query", "fts5", "tsquery"),
    [
        ("one two", '"one" AND "two"', "('one') & ('two')"),
        ('"one two"', '"one two"', "('one' <-> 'two')"),
        ("one -two", '"one" NOT "two"', "('one') & !('two')"),
        ('-"a b" one', '"one" NOT "a b"', "!('a' <-> 'b') & ('one')"),
        ("pre*", '"pre" *', "('pre':*)"),
        ('"one tw"*', '"one tw" *', "('one' <-> 'tw':*)"),
        ("user_id", '"user id"', "('user' <-> 'id')"),
        ("src/moot/x.py", '"src moot x py"', "('src' <-> 'moot' <-> 'x' <-> 'py')"),
        ("--help", '"help"', "('help')"),
        ("- one", '"one"', "('one')"),
        ('open "to the end', '"open" AND "to the end"', "('open') & ('to' <-> 'the' <-> 'end')"),
        ("it's a:b AND (NOT) | & !c", '"it s" AND "a b" AND "AND" AND "NOT" AND "c"', None),
        ("नमस्ते", '"नमस्ते"', "('नमस्ते')"),
        ("done🎉", '"done"', "('done')"),
    ],
)
def test_a_query_is_put_into_each_language(query: str, fts5: str, tsquery: str | None) -> None:
    found = wanted.parse(query)
    assert found.fts5 == fts5
    if tsquery is not None:
        assert found.tsquery == tsquery


def test_the_terms_are_told_apart() -> None:
    assert wanted.parse('a -b "c d" e*').terms == (
        Term(("a",)),
        Term(("b",), is_excluded=True),
        Term(("c", "d")),
        Term(("e",), is_prefix=True),
    )


@pytest.mark.parametrize("query", ["", " ", "🎉", "***", '""', '"', "-", "-one", "-one -two", "()", "'"])
def test_a_query_without_a_word_that_must_occur_is_refused(query: str) -> None:
    with pytest.raises(NothingWanted):
        wanted.parse(query)


@pytest.mark.parametrize("query", ["x" * 501, "a\0b", "\ud800", "a " * 60])
def test_a_query_that_is_too_much_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput):
        wanted.parse(query)
