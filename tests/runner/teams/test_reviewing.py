"""Lead and reviewer judge at the same time; what both find is mended by those whose work it is, for a few rounds."""

from pathlib import Path

from moot.board import laying
from moot.board.plans import Plan
from moot.core.ids import BoardId
from moot.core.tx import Tx
from moot.documents import documents
from moot.registry import runs
from moot.runner import phases
from moot.runner.teams import section
from moot.store.store import Store
from moot.teams import reviews
from moot.teams.reviews import Issue
from tests.runner.teams.desk import HANDOFF, Desk, launched, planned, workflow

SLOW = Issue("it is slow", task="b")


async def reviewing(store: Store, folder: Path, rounds: int = 3) -> Desk:
    desk = await launched(store, folder, workflow(rounds=rounds))
    await desk.to_review()
    assert await desk.stage() == "reviewing 1"
    return desk


async def test_both_are_asked_at_the_same_time_and_find_what_was_changed(store: Store, tmp_path: Path) -> None:
    desk = await reviewing(store, tmp_path)
    (lead,), (reviewer,) = await desk.unread("lead"), await desk.unread("reviewer-1")
    assert lead == reviewer
    assert f"- a: {HANDOFF}" in lead
    assert "review-1.md" in lead
    found = await desk.house.read(lambda tx: documents.read(tx, desk.house.instance.name, "review-1.md"))
    assert found.content.startswith("# Round 1\n")
    assert [await desk.unread(name) for name in ("worker-1", "worker-2")] == [[], []]


async def test_one_review_decides_nothing(store: Store, tmp_path: Path) -> None:
    desk = await reviewing(store, tmp_path)
    await desk.reports("reviewer-1", "approved")
    assert await desk.stage() == "reviewing 1"
    await desk.reports("lead", "approved")
    assert (await desk.way())[-3:] == ["comparing", "merging", "done"]  # no worktree was made, so nothing is merged


async def test_issues_become_tasks_of_whom_they_concern_and_another_round_begins(store: Store, tmp_path: Path) -> None:
    desk = await reviewing(store, tmp_path)
    await desk.reports("lead", "changes", SLOW, Issue("typo", file="a.py"), Issue("no docs"))
    await desk.reports("reviewer-1", "changes", Issue("It is slow ", task="B"))
    assert await desk.stage() == "working 2"
    assert (await desk.way())[-4:] == ["reviewing", "comparing", "redelegating", "working"]
    new = [(name, who) for name, who, _ in await desk.listed() if name.startswith("issue")]
    assert new == [
        ("issue 1.1: it is slow", "worker-2"),
        ("issue 1.2: typo", "worker-1"),
        ("issue 1.3: no docs", "worker-1"),
    ]
    (told,) = await desk.unread("worker-2")
    assert "it is slow" in told
    assert "Found by: lead, reviewer-1" in told


async def test_what_is_mended_is_reviewed_anew(store: Store, tmp_path: Path) -> None:
    desk = await reviewing(store, tmp_path)
    await desk.reports("lead", "approved")
    await desk.reports("reviewer-1", "changes", SLOW)
    await desk.turn("worker-2", HANDOFF)
    assert await desk.stage() == "reviewing 2"
    (asked,) = await desk.unread("lead")
    assert asked.startswith("Review round 2 of: a goal")
    await desk.reports("reviewer-1", "approved")
    await desk.reports("lead", "approved")
    assert await desk.stage() == "done 2"


async def test_rounds_come_to_an_end_and_a_person_may_allow_another(store: Store, tmp_path: Path) -> None:
    desk = await reviewing(store, tmp_path, rounds=1)
    await desk.reports("lead", "approved")
    await desk.reports("reviewer-1", "changes", SLOW)
    team = await desk.team()
    assert (team.stage, team.left_in) == ("failed", "comparing")
    assert team.reason == "1 issue left after 1 round; moot resume allows another round"
    await resume(desk)
    assert await desk.stage() == "working 2"
    await desk.turn("worker-2", HANDOFF)
    await desk.reports("lead", "approved")
    await desk.reports("reviewer-1", "approved")
    assert await desk.stage() == "done 2"


async def resume(desk: Desk) -> None:
    """As `moot resume` does, after the run has ended with what the team came to."""

    def change(tx: Tx) -> None:
        phases.close(tx, desk.run.id, "failed", "the team has failed")
        run = runs.resume(tx, desk.house.instance.name, desk.host)
        phases.carry_on(tx, run, {})

    await desk.house.write(change)
    await desk.work()


async def test_who_gives_no_review_is_reminded_once_and_then_the_team_has_failed(store: Store, tmp_path: Path) -> None:
    desk = await reviewing(store, tmp_path)
    await desk.reports("lead", "approved")
    await desk.turn("reviewer-1", "It looks fine to me.")
    assert await desk.unread("reviewer-1") == [
        "Your review of round 1 is missing. Report with review_report: approved, or changes with issues."
    ]
    await desk.turn("reviewer-1", "As I said.")
    assert (await desk.team()).reason == "reviewer-1 gave no review"
    await resume(desk)
    assert len(await desk.unread("reviewer-1")) == 1
    await desk.reports("reviewer-1", "approved")
    assert await desk.stage() == "done 1"


async def test_a_lead_from_outside_is_waited_for(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(lead="external"))
    assert [one.name for one in await desk.house.read(lambda tx: section.awaited(tx, desk.run))] == ["lead"]
    await desk.house.write(lambda tx: laying.set_plan(tx, BoardId(desk.run.id), Plan(tasks=planned("a"))))
    await desk.work()
    assert await desk.house.read(lambda tx: section.awaited(tx, desk.run)) == []
    await desk.turn("worker-1", HANDOFF)
    await desk.reports("reviewer-1", "approved")
    assert await desk.stage() == "reviewing 1"
    assert [one.name for one in await desk.house.read(lambda tx: section.awaited(tx, desk.run))] == ["lead"]
    team = await desk.team()
    await desk.house.write(lambda tx: reviews.give(tx, team, "lead", "approved", ()))
    await desk.work()
    assert await desk.stage() == "done 1"
