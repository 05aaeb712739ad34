"""Proposals are found by an index, however many there were."""

import pytest

from moot.proposals import proposals, votes
from tests.plans import plan_on_sqlite


@pytest.mark.parametrize("name", ["open_of", "has_open"])
def test_open_ones_are_found_among_open_ones(name: str) -> None:
    plan = plan_on_sqlite(getattr(proposals.sql, name))
    assert "proposals_open (stream=?)" in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize("name", ["get", "ballots", "asked", "all_of", "all_ballots", "latest_for"])
def test_none_is_looked_for_among_all_there_are(name: str) -> None:
    assert "SCAN" not in plan_on_sqlite(getattr(proposals.sql, name))


@pytest.mark.parametrize("name", ["vote", "close"])
def test_a_change_touches_its_row_only(name: str) -> None:
    assert "SCAN" not in plan_on_sqlite(getattr(votes.sql, name))
