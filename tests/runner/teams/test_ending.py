"""Nobody is at work in a team: its run is ended only if it comes no further, and not while the lead owes an answer."""

from pathlib import Path

import pytest

from moot.core.tx import Tx
from moot.registry import runs
from moot.runner import lookout, phases
from moot.runner.lookout import Look
from moot.store.store import Store
from moot.workflow.workflow import Backend
from tests.runner.teams.desk import HANDOFF, Desk, launched, workflow


async def is_ended(desk: Desk) -> bool:
    """As by whoever has found nobody at work."""

    def change(tx: Tx) -> bool:
        return phases.close(tx, desk.run.id, "failed", "the team is still at it")

    return await desk.house.write(change)


async def unseen(desk: Desk, name: str, text: str = "") -> None:
    """The turn of somebody, after which nobody looks at the team any more."""
    await desk.turn_unseen(name, text)
    await desk.work(is_blind=True)


async def looked(desk: Desk) -> Look:
    return await desk.house.read(lambda tx: lookout.look(tx, desk.run.id))


async def test_work_that_is_done_goes_on_to_its_review(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1")
    await unseen(desk, "worker-1", HANDOFF)
    assert await desk.stage() == "working 1"
    assert not await is_ended(desk)
    await desk.work()
    assert (await desk.stage(), len(await desk.unread("reviewer-1"))) == ("reviewing 1", 1)


async def test_a_lead_without_a_plan_leaves_the_goal_to_everybody(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await unseen(desk, "lead")
    assert not await is_ended(desk)
    await desk.work()
    assert await desk.stage() == "working 1"


async def test_a_reviewer_that_says_nothing_is_asked_again(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.to_review()
    await desk.reports("lead", "approved")
    await unseen(desk, "reviewer-1")
    assert not await is_ended(desk)
    assert await desk.unread("reviewer-1") == [
        "Your review of round 1 is missing. Report with review_report: approved, or changes with issues."
    ]
    await desk.work()
    await desk.reports("reviewer-1", "approved")
    assert await desk.stage() == "done 1"


async def test_a_team_that_comes_no_further_ends_with_its_run_and_tells_its_own_reason(
    store: Store, tmp_path: Path
) -> None:
    desk = await launched(store, tmp_path)
    await desk.to_review()
    await desk.reports("lead", "approved")
    await desk.turn("reviewer-1")
    await unseen(desk, "reviewer-1")
    assert not await is_ended(desk)  # it has failed by that look, and who attends it reads why
    assert (await looked(desk)).unfinished == "reviewer-1 gave no review"
    await desk.work()
    assert await is_ended(desk)
    assert (await desk.house.read(lambda tx: runs.get(tx, desk.run.id))).state == "failed"


async def asking(store: Store, folder: Path, lead: Backend) -> Desk:
    """Worker 1 has asked the lead, which has read it and thinks about it; everybody else is done."""
    desk = await launched(store, folder, workflow(lead, workers=("worker-1",)))
    await desk.acknowledges("lead")
    await desk.plans_itself("a worker-1")
    await desk.says("worker-1", "which colour?", "question", "lead")
    await desk.acknowledges("lead")
    return desk


@pytest.mark.parametrize("lead", ["external", "human"])
async def test_a_lead_that_thinks_about_a_question_is_waited_for(store: Store, tmp_path: Path, lead: Backend) -> None:
    desk = await asking(store, tmp_path, lead)
    found = await looked(desk)
    assert not found.is_idle or [one.name for one in found.awaited] == ["lead"]
    assert await desk.unread("worker-1") == []  # nobody tells it to go on without the answer
    (asked,) = [one for one in await desk.said() if one.kind == "question"]
    await desk.says_itself("lead", "blue", "answer", "worker-1", reply_to=asked.id)
    assert await desk.unread("worker-1") == ["blue"]
    await desk.turn("worker-1", HANDOFF)
    assert await desk.stage() == "reviewing 1"


@pytest.mark.parametrize("lead", ["external", "human"])
async def test_a_lead_that_has_to_decide_about_a_failed_task_is_waited_for(
    store: Store, tmp_path: Path, lead: Backend
) -> None:
    desk = await launched(store, tmp_path, workflow(lead, workers=("worker-1",)))
    await desk.acknowledges("lead")
    await desk.plans_itself("a worker-1")
    await desk.fails("worker-1", "a", "no compiler")
    await desk.acknowledges("lead")
    found = await looked(desk)
    assert not found.is_idle or [one.name for one in found.awaited] == ["lead"]
    assert await desk.stage() == "working 1"


async def test_a_reviewer_that_has_asked_is_not_asked_again_before_the_lead_was_heard(
    store: Store, tmp_path: Path
) -> None:
    desk = await launched(store, tmp_path)
    await desk.to_review()
    await desk.reports("lead", "approved")
    await desk.says("reviewer-1", "is the old name to be kept?", "question", "lead")
    assert await desk.unread("reviewer-1") == []
    await desk.says("lead", "it is", "answer", "reviewer-1")
    assert await desk.unread("reviewer-1") == ["it is"]
    await desk.reports("reviewer-1", "approved")
    assert await desk.stage() == "done 1"


async def test_a_reviewer_whose_question_the_lead_leaves_open_is_asked_again(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.to_review()
    await desk.reports("lead", "approved")
    await desk.says("reviewer-1", "is the old name to be kept?", "question", "lead")
    await desk.turn("lead")
    assert [one.split(".")[0] for one in await desk.unread("reviewer-1")] == ["Your review of round 1 is missing"]
