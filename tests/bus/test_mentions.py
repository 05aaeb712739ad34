"""Who is meant in a text: words with an @ before them, outside of backticks."""

import time

import pytest

from moot.bus import mentions


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@coder please", ["coder"]),
        ("please, @coder", ["coder"]),
        ("(@coder)", ["coder"]),
        ("*@coder*", ["coder"]),
        ("line\n@coder", ["coder"]),
        ("@coder.", ["coder"]),
        ("@coder, @reviewer: look!", ["coder", "reviewer"]),
        ("@coder's work", ["coder"]),
        ("@coder...", ["coder"]),
        ("@coder-", ["coder"]),
        ("@coder_", ["coder"]),
        ("@coder--_ wait", ["coder"]),
        ("@a", ["a"]),
        ("@code-reviewer_2", ["code-reviewer_2"]),
        ("@Coder and @coder", ["Coder", "coder"]),
        ("@all", ["all"]),
        ("/@coder", ["coder"]),
        ("@" + "a" * 63, ["a" * 63]),
    ],
)
def test_a_name_after_an_at_is_a_mention(text: str, names: list[str]) -> None:
    assert mentions.names(text) == names


def test_a_repeated_mention_counts_once_and_order_is_kept() -> None:
    assert mentions.names("@b @a @b @c @a") == ["b", "a", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "@ coder",
        "@1st",
        "@-coder",
        "mail bob@example.com",
        "x@coder",
        "ü@coder",
        "_@coder",
        "9@coder",
        "@@coder",
        "@coder@host",
        "@code-reviewer@example.com",
        "@coderü",
        "@" + "a" * 64,
        "@coder-" + "a" * 60,
        "\uff20coder",
    ],
)
def test_an_at_inside_something_else_is_no_mention(text: str) -> None:
    assert mentions.names(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "`@coder`",
        "``@coder``",
        "`` a ` b @coder``",
        "```@coder```",
        "```\n@coder\n```",
        "```python\n@cached\ndef f(): ...\n```",
        "````\n```\n@coder\n```\n````",
        "   ```\n@coder",
        "text\n```\n@coder\nnever closed",
        "```",
        "`a` `@coder` `b`",
    ],
)
def test_what_stands_in_backticks_is_quoted(text: str) -> None:
    assert mentions.names(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "`code` @coder",
        "@coder `code`",
        "`code`@coder",
        "it`s @coder",
        "it`s\n@coder and `more`",
        "a ``` in a sentence, @coder",
        "```\ncode\n```\n@coder",
        "`` a ` @coder",
        "```\na\n``` @coder ```\nb\n```",
    ],
)
def test_what_stands_outside_of_backticks_is_said(text: str) -> None:
    assert mentions.names(text) == ["coder"]


@pytest.mark.parametrize(
    "text",
    [
        "`" * 1_000_000,
        "` " * 500_000,
        "`\n" * 500_000,
        "".join("`" * length + " " for length in range(1400)),
        "@a-" * 300_000,
        "@" * 1_000_000,
        "@" + "a-" * 500_000,
    ],
    ids=["run", "pairs", "lines", "lengths", "names", "ats", "long"],
)
def test_the_longest_message_is_read_in_a_moment(text: str) -> None:
    started = time.process_time()
    mentions.names(text)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("text", ["urgent", "This is URGENT!", "asap.", "I am blocked", "critical:", "non-urgent"])
def test_a_word_of_urgency_makes_it_high(text: str) -> None:
    assert mentions.priority(text, 0) == "high"


@pytest.mark.parametrize("text", ["", "urgently", "unblocked", "asaplease", "blocked_by", "criticality"])
def test_only_whole_words_count(text: str) -> None:
    assert mentions.priority(text, 1) == "normal"


def test_more_than_one_mention_is_high() -> None:
    assert mentions.priority("look", 1) == "normal"
    assert mentions.priority("look", 2) == "high"
