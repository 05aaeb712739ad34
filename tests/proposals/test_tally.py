"""What votes come to under each rule."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.proposals import tally
from moot.proposals.tally import Rule

OPTIONS = ("a", "b", "c")
VOTES = st.lists(st.sampled_from(OPTIONS), max_size=12)
LABELS = st.text(st.characters(codec="utf-8"), max_size=9)
RULES = st.sampled_from(["plurality", "majority", "unanimous"])


@pytest.mark.parametrize(
    ("votes", "plurality", "majority", "unanimous"),
    [
        ("", "", "", ""),
        ("a", "a", "a", "a"),
        ("aaa", "a", "a", "a"),
        ("aab", "a", "a", ""),
        ("ab", "ab", "", ""),
        ("ba", "ab", "", ""),
        ("aabb", "ab", "", ""),
        ("abc", "abc", "", ""),
        ("aabc", "a", "", ""),
        ("aaabc", "a", "a", ""),
        ("ccb", "c", "c", ""),
        ("bcbc", "bc", "", ""),
    ],
)
def test_the_rules(votes: str, plurality: str, majority: str, unanimous: str) -> None:
    expected: dict[Rule, str] = {"plurality": plurality, "majority": majority, "unanimous": unanimous}
    for rule, leaders in expected.items():
        assert "".join(tally.leaders(OPTIONS, votes, rule)) == leaders, rule


def test_counts_are_listed_as_the_options_are() -> None:
    assert list(tally.counts(OPTIONS, "cca").items()) == [("a", 1), ("b", 0), ("c", 2)]


@given(votes=VOTES)
def test_every_vote_is_counted_once(votes: list[str]) -> None:
    counted = tally.counts(OPTIONS, votes)
    assert sum(counted.values()) == len(votes)
    assert counted == {option: Counter(votes)[option] for option in OPTIONS}


@given(votes=VOTES, rule=RULES, order=st.randoms(use_true_random=False))
def test_the_order_of_votes_makes_no_difference(votes: list[str], rule: Rule, order: Random) -> None:
    shuffled = list(votes)
    order.shuffle(shuffled)
    assert tally.leaders(OPTIONS, votes, rule) == tally.leaders(OPTIONS, shuffled, rule)


@given(votes=VOTES)
def test_a_stricter_rule_never_names_somebody_else(votes: list[str]) -> None:
    """Who is unanimous has a majority, and who has a majority leads."""
    plurality, majority, unanimous = (
        tally.leaders(OPTIONS, votes, rule) for rule in ("plurality", "majority", "unanimous")
    )
    assert len(majority) <= 1
    assert majority in ((), plurality)
    assert unanimous in ((), majority)
    assert bool(plurality) == bool(votes)


@given(votes=VOTES.filter(bool), rule=RULES)
def test_one_more_vote_for_the_winner_leaves_it_the_winner(votes: list[str], rule: Rule) -> None:
    leaders = tally.leaders(OPTIONS, votes, rule)
    if len(leaders) == 1:
        assert tally.leaders(OPTIONS, [*votes, leaders[0]], rule) == leaders


@given(tied=st.lists(LABELS, min_size=1, max_size=5, unique=True), seed=LABELS)
def test_a_lot_falls_on_one_of_those_that_are_tied_and_can_be_drawn_again(tied: list[str], seed: str) -> None:
    drawn = tally.drawn(tied, seed)
    assert drawn in tied
    assert tally.drawn(tied, seed) == drawn


def test_lots_fall_on_everybody() -> None:
    drawn = Counter(tally.drawn(OPTIONS, f"lot_{number}") for number in range(300))
    assert drawn.keys() == set(OPTIONS)
    assert min(drawn.values()) > 60


def test_the_first_voter_gets_the_task() -> None:
    votes = [("ann", "db"), ("bob", "api"), ("eve", "db")]
    assert tally.assigned(votes) == {"db": "ann", "api": "bob"}


@given(votes=st.lists(st.tuples(st.sampled_from("uvwxyz"), st.sampled_from(OPTIONS)), unique_by=lambda one: one[0]))
def test_every_task_that_was_chosen_is_given_to_one_who_chose_it(votes: list[tuple[str, str]]) -> None:
    given_to = tally.assigned(votes)
    assert given_to.keys() == {option for _, option in votes}
    assert all((voter, option) in votes for option, voter in given_to.items())
    assert len(set(given_to.values())) == len(given_to)
