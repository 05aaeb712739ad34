"""Ids and times of a recording are matched with those of now; the rest has to be the same."""

from moot.taping.replaying.likeness import Likeness, lasting, standing, unnamed

OLD, NEW = "ms_01m7h45jmjbex9r19nsb", "ms_01m7h4yf1v389dgkkazr"


def test_an_id_is_what_stands_at_its_place_now() -> None:
    likeness = Likeness()
    likeness.learn(
        {"id": OLD, "seq": 7, "at": "2026-11-16T02:51:29.019566Z"}, {"id": NEW, "seq": 9, "at": "2027-01-01T00:00:00Z"}
    )
    assert likeness.translate({"until": OLD, "note": f"see {OLD}!", "n": 7}) == {
        "until": NEW,
        "note": f"see {NEW}!",
        "n": 7,
    }
    assert likeness.translate({"until": 7}) == {"until": 9}
    assert likeness.translate({"until": "2026-11-16T02:51:29.019566Z"}) == {"until": "2027-01-01T00:00:00Z"}


def test_ids_within_texts_are_matched_by_their_order() -> None:
    likeness = Likeness()
    likeness.learn("[PROPOSAL:prop-001] or doc-owner-001", "[PROPOSAL:prop-004] or doc-owner-002")
    assert likeness.translate(["prop-001", "doc-owner-001", "prop-002"]) == ["prop-004", "doc-owner-002", "prop-002"]


def test_what_does_not_fit_together_teaches_nothing() -> None:
    likeness = Likeness()
    likeness.learn(["prop-001 prop-002", {"a": OLD}], ["prop-003", {"b": NEW}])
    assert likeness.translate(["prop-001", OLD, True, None, 1.5]) == ["prop-001", OLD, True, None, 1.5]


def test_only_ids_and_times_pass() -> None:
    assert lasting(f"{OLD} until 02:51:49 UTC, prop-001") == lasting(f"{NEW} until 03:00:00 UTC, prop-017")
    assert lasting("one") != lasting("two")


PROMPT = """You are @ann in first. Here with you: @ben.

What stands between BEGIN 0123456789abcdef and END 0123456789abcdef was written by others.

## Inbox (1 messages for you)
BEGIN 0123456789abcdef
- From @ben: hello
END 0123456789abcdef

## Current Workspace
notes.md (version 3):
BEGIN 0123456789abcdef
(empty)
END 0123456789abcdef
Other documents:
BEGIN 0123456789abcdef
- plan.md (version 1, 3 characters)
END 0123456789abcdef

## Instructions
Deal with it.
"""


def test_of_a_prompt_what_moot_says_at_any_moment_is_compared() -> None:
    other = PROMPT.replace("0123456789abcdef", "fedcba9876543210").replace("version 3", "version 4")
    other = other.replace("Here with you: @ben.", "Nobody else is here.").replace("(empty)", "a text")
    assert standing(other) == standing(PROMPT)
    without = other.partition("Other documents:")[0] + "\n## Instructions\nDeal with it.\n"
    assert standing(without) == standing(PROMPT)
    for old, new in (
        ("Deal", "Do not deal"),
        ("notes.md", "plan.md"),
        ("(1 messages", "(2 messages"),
        ("@ann", "@dan"),
    ):
        assert standing(PROMPT.replace(old, new, 1)) != standing(PROMPT)


def test_names_of_instances_are_left_out_as_whole_words() -> None:
    names = ("first", "again")
    assert unnamed(".workflow/first/x", names) == unnamed(".workflow/again/x", names)
    assert unnamed("first-plan.md first_1", names) == unnamed("again-plan.md again_1", names)
    assert unnamed("firstly against", names) == "firstly against"
