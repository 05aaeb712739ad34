"""What reviewers say of a round is said once, and taken together."""

import pytest

from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.teams import reviews
from moot.teams.errors import ReviewRefused
from moot.teams.reviews import Issue
from tests.interleave import interleave
from tests.teams.desk import Desk, open_desk

SLOW, WRONG = Issue("it is slow", task="cache"), Issue("off by one", file="a.py")


async def reviewing(store: Store) -> Desk:
    desk = await open_desk(store)
    await desk.begin()
    await desk.go("delegating", "working", "reviewing")
    await desk.ask("lead", "reviewer-1")
    return desk


async def test_a_review_is_there_once_it_was_given(store: Store) -> None:
    desk = await reviewing(store)
    await desk.give("reviewer-1", "changes", SLOW)
    team = await desk.team()
    found = {one.reviewer: one for one in await desk.house.read(lambda tx: reviews.of_round(tx, team))}
    assert not found["lead"].is_given
    assert found["reviewer-1"].verdict == "changes"
    assert [(one.text, one.task, one.by) for one in found["reviewer-1"].found] == [
        ("it is slow", "cache", ("reviewer-1",))
    ]


async def test_the_same_review_again_changes_nothing_and_another_is_refused(store: Store) -> None:
    desk = await reviewing(store)
    assert await desk.give("lead", "approved")
    assert not await desk.give("lead", "approved")
    with pytest.raises(ReviewRefused, match="already"):
        await desk.give("lead", "changes", SLOW)


async def test_a_review_that_nobody_asked_for_is_refused(store: Store) -> None:
    desk = await reviewing(store)
    with pytest.raises(ReviewRefused, match="Nobody has asked worker-1"):
        await desk.give("worker-1", "approved")


async def test_who_is_asked_again_is_counted(store: Store) -> None:
    desk = await reviewing(store)
    await desk.ask("lead")
    team = await desk.team()
    asked = {one.reviewer: one.asked for one in await desk.house.read(lambda tx: reviews.of_round(tx, team))}
    assert asked == {"lead": 2, "reviewer-1": 1}


async def test_every_round_has_reviews_of_its_own(store: Store) -> None:
    desk = await reviewing(store)
    await desk.give("lead", "changes", SLOW)
    await desk.go("comparing", "redelegating", "working", "reviewing")
    with pytest.raises(ReviewRefused, match="Nobody has asked lead"):
        await desk.give("lead", "approved")
    await desk.ask("lead")
    assert await desk.give("lead", "approved")
    team = await desk.team()
    assert team.run is not None
    run = team.run
    given = [(one.round, one.verdict) for one in await desk.house.read(lambda tx: reviews.of_run(tx, run))]
    assert given == [(1, "changes"), (1, ""), (2, "approved")]


async def test_what_two_have_found_counts_once(store: Store) -> None:
    desk = await reviewing(store)
    await desk.give("lead", "changes", SLOW, WRONG)
    await desk.give("reviewer-1", "changes", Issue("It is  SLOW", task="Cache"), Issue("off by one", file="b.py"))
    team = await desk.team()
    found = reviews.compared(await desk.house.read(lambda tx: reviews.of_round(tx, team)))
    assert [(one.text, one.file, one.by) for one in found] == [
        ("it is slow", None, ("lead", "reviewer-1")),
        ("off by one", "a.py", ("lead",)),
        ("off by one", "b.py", ("reviewer-1",)),
    ]


async def test_of_two_different_reviews_of_one_reviewer_at_once_the_first_counts(pg_store: PostgresStore) -> None:
    desk = await reviewing(pg_store)
    team = await desk.team()
    with pytest.raises(ReviewRefused, match="already"):
        await interleave(
            pg_store,
            lambda tx: reviews.give(tx, team, "lead", "approved", ()),
            lambda tx: reviews.give(tx, team, "lead", "changes", (SLOW,)),
        )
    assert reviews.compared(await desk.house.read(lambda tx: reviews.of_round(tx, team))) == []
