"""The lines of a scripted agent: checked when they are read, matched in order, filled once."""

import pytest

from moot.backends import script
from moot.backends.script import Match, ScriptInvalid
from moot.core.json import Json
from tests.backends.letters import letter

PROMPTS = {"prompt": "all the words", "system_prompt": "be kind"}
WRONG: list[tuple[Json, str]] = [
    (
        {"on": "("},
        "`script item 2, on`: not a regular expression: missing ), unterminated subpattern at position 0. Mend it.",
    ),
    (
        {"takes": "soon"},
        "`script item 2, takes`: 'soon' is not a duration. Write a number and a unit: 500ms, 30s, 5m, 2h, 1d.",
    ),
    ({"takes": 5}, "`script item 2, takes` must be text, not a number. Put it in quotes."),
    ({"say": 5}, "`script item 2, say` must be text, not a number. Put it in quotes."),
    ({"sayy": "x"}, "`sayy` is no key of `script item 2`. Did you mean `say`?"),
    (
        {"sender": "ann"},
        "`sender` is no key of `script item 2`. Known are: calls, crash, fail, fails, from, hang, in, on",
    ),
    ({"crash": "yes"}, "`script item 2, crash` must be true or false, not text. Write true, without quotes."),
    ({"fail": "no", "fails": 0}, "`script item 2, fails` must be at least 1. Choose another number."),
    ({"fails": 1}, "`script item 2`: `fails` says how often, but neither fail, crash nor hang says how. Mend it."),
    ({"calls": [{}]}, "`script item 2, calls item 1` must not be empty. Add to it."),
    ({"calls": [{"a": {}, "b": {}}]}, "`script item 2, calls item 1` must not have more than 1 value. Shorten it."),
    ({"calls": [{"a": []}]}, "`script item 2, calls item 1, a` must be keys and values, not a list."),
    ({"calls": "a"}, "`script item 2, calls` must be a list, not text."),
    ("say hello", "`script item 2` must be keys and values, not text."),
    (None, "`script item 2` must be keys and values, and is empty. Fill it in, or leave it out."),
]


def found(lines: list[Json], body: str, sender: str = "human") -> Match | None:
    return script.match(script.parse({"script": lines}), letter(body, sender), PROMPTS)


def test_no_script_is_an_empty_one() -> None:
    assert script.parse({}).script == ()
    assert script.match(script.parse({}), letter("hello"), PROMPTS) is None


def test_a_whole_line_is_read() -> None:
    (line,) = script.parse(
        {
            "script": [
                {
                    "on": "a(b)",
                    "from": "ann",
                    "takes": "5ms",
                    "calls": [{"channel_read": {"limit": 5}}, {"channel_peek": {}}],
                    "say": "hello",
                    "fail": "no",
                    "fails": 2,
                    "crash": True,
                    "hang": True,
                }
            ]
        }
    ).script
    assert (line.on, line.sender, line.takes, line.say, line.fail) == ("a(b)", "ann", "5ms", "hello", "no")
    assert (line.fails, line.crash, line.hang) == (2, True, True)
    assert line.calls == ({"channel_read": {"limit": 5}}, {"channel_peek": {}})


@pytest.mark.parametrize(("line", "fact"), WRONG, ids=str)
def test_an_error_names_its_line(line: Json, fact: str) -> None:
    with pytest.raises(ScriptInvalid) as refused:
        script.parse({"script": [{"say": "fine"}, line]})
    assert refused.value.code == "SCRIPT_INVALID"
    assert str(refused.value).startswith(fact)


@pytest.mark.parametrize("lines", [None, "say hello", {"say": "hello"}, 5])
def test_a_script_is_a_list_of_lines(lines: Json) -> None:
    with pytest.raises(ScriptInvalid, match=r"^`script` must be a list, "):
        script.parse({"script": lines})


def test_the_first_line_that_applies_is_played() -> None:
    lines: list[Json] = [{"on": "fix", "from": "ann", "say": "1"}, {"on": "FIX", "say": "2"}, {"say": "3"}]

    def said(body: str, sender: str = "human") -> str:
        match = found(lines, body, sender)
        assert match is not None
        return match.line.say

    assert said("please Fix it", "ann") == "1"
    assert said("please Fix it") == "2"
    assert said("hello", "ann") == "3"


def test_placeholders_stand_for_what_was_matched() -> None:
    match = found([{"on": r"(\w+) (x)?"}], "review this")
    assert match is not None
    text = "$from $message $id [$1] [$2] [$3]"
    assert match.fill(text) == "human review this ms_1 [review] [] []"
    assert match.fill({"a": ["$1", {"b": "$1"}], "$1": 5}) == {"a": ["review", {"b": "review"}], "$1": 5}
    assert match.fill([None, True, 1.5]) == [None, True, 1.5]


def test_only_whole_placeholders_are_filled() -> None:
    match = found([{"on": "(a)"}], "a")
    assert match is not None
    for text in ("$identity", "$fromage", "$messages", "$10", "$0", "$", "$x", "$ 1"):
        assert match.fill(text) == text
    assert match.fill("$1st $from's $id.") == "ast human's ms_1."


def test_what_is_put_in_is_not_looked_at_again() -> None:
    match = found([{"on": r"say (.*)"}], "say $from $1 $message")
    assert match is not None
    assert match.fill("<$1>") == "<$from $1 $message>"
