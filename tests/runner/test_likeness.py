"""Ids and times of a recording are matched with those of now; the rest has to be the same."""

from moot.runner.likeness import Likeness, lasting

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
