"""The lead plans, a person may have to agree, and only then is anything handed out."""

from pathlib import Path

import pytest

from moot.board import boards, laying
from moot.board.plans import Need, Plan, Planned
from moot.core.ids import BoardId
from moot.store.store import Store
from moot.teams import marks, stages
from moot.teams.errors import TeamRefused
from moot.teams.reviews import Issue
from moot.tools import teamwork
from tests.runner.teams.desk import HANDOFF, answer, launched, planned, workflow


async def test_the_lead_is_told_the_goal_and_everybody_the_way(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    assert await desk.stage() == "planning 1"
    (goal,) = await desk.unread("lead")
    assert goal.startswith("[GOAL] a goal")
    assert desk.run.id in goal
    said = await desk.said()
    assert (said[0].sender, said[0].kind, said[0].body) == ("system", "status", stages.LINE)
    assert [one.body for one in said if one.body.startswith("online: ")] == [
        "online: lead (lead, scripted)",
        "online: reviewer-1 (reviewer, scripted)",
        "online: worker-1 (worker, scripted)",
        "online: worker-2 (worker, scripted)",
    ]
    assert [await desk.unread(name) for name in ("reviewer-1", "worker-1", "worker-2")] == [[], [], []]


async def test_a_plan_is_handed_out_when_the_lead_has_ended_its_turn(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    plan = Plan("a plan", tasks=planned("a worker-1", "b"))
    await desk.house.write(lambda tx: laying.set_plan(tx, BoardId(desk.run.id), plan))
    await desk.work()
    assert await desk.stage() == "planning 1"  # it may think better of it
    assert await desk.unread("worker-1") == []
    await desk.turn("lead")
    assert await desk.way() == ["planning", "delegating", "working"]
    given = [one for one in await desk.said() if one.kind == "task" and one.sender == "lead"]
    assert [(one.mentions, one.body.split("] ")[1].split("\n")[0]) for one in given] == [
        (("worker-1",), "a"),
        (("worker-2",), "b"),
    ]


async def test_without_a_plan_every_worker_gets_the_goal(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.turn("lead", "I would just begin.")
    assert await desk.stage() == "working 1"
    assert await desk.listed() == [
        ("goal for worker-1", "worker-1", "planning"),
        ("goal for worker-2", "worker-2", "planning"),
    ]
    (told,) = await desk.unread("worker-1")
    assert "a goal" in told
    assert "worker-2 got the same" in told


async def test_a_lead_from_outside_takes_its_time_to_plan(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(lead="external"))
    await desk.work()
    assert await desk.stage() == "planning 1"
    await desk.house.write(lambda tx: laying.set_plan(tx, BoardId(desk.run.id), Plan(tasks=planned("a"))))
    await desk.work()
    assert await desk.stage() == "working 1"


async def test_a_plan_waits_for_the_person_and_nothing_is_handed_out_before(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a worker-1", "b")
    (asked,) = await desk.asked()
    assert (asked.kind, asked.addressee, asked.requester) == ("plan_approval", "human", "system")
    assert "- a (worker-1): do a" in asked.body
    assert await desk.stage() == "planning 1"
    assert await desk.unread("worker-1") == []
    await answer(desk, "approved")
    assert await desk.stage() == "working 1"
    assert len(await desk.unread("worker-1")) == 1


async def test_a_plan_that_changes_while_somebody_looks_at_it_is_asked_for_anew(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a")
    (first,) = await desk.asked()
    more = Plan("a plan", tasks=planned("a", "b"))
    await desk.house.write(lambda tx: laying.set_plan(tx, BoardId(desk.run.id), more))
    await desk.work()
    (second,) = await desk.asked()
    assert second.id != first.id
    assert "- b: do b" in second.body
    await answer(desk, "approved")
    assert await desk.stage() == "working 1"


async def test_a_denied_plan_goes_back_to_the_lead(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a")
    await answer(desk, "denied", "too big")
    (told,) = await desk.unread("lead")
    assert told.startswith("human has denied the plan: too big")
    await desk.plans("smaller")
    assert await desk.stage() == "planning 1"
    await answer(desk, "approved")
    assert await desk.stage() == "working 1"


async def test_what_is_approved_is_shown_in_full(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    long = f"{'read it all, ' * 40}and then delete the database"
    plan = (Planned("a", long, files=("a.py",), checks=({"shell": "make test"},)), Planned("b", "", (Need("a"),)))
    await desk.turn("lead", call=lambda tx, _: laying.set_plan(tx, BoardId(desk.run.id), Plan("s", tasks=plan)))
    (asked,) = await desk.asked()
    assert f"- a: {long}\n  files: a.py\n  done when: `make test` ends with exit code 0" in asked.body
    assert "- b: \n  after: a" in asked.body


@pytest.mark.parametrize(
    "changed",
    [
        Planned("b", "do b", (Need("a"),), files=("b.py",)),
        Planned("b", "do b", files=("b.py",), checks=({"shell": "rm -rf ."},)),
        Planned("b", "do b", files=("b.py",), capabilities=("root",)),
        Planned("b", "do b", files=("b.py",), parallel_group="g"),
    ],
)
async def test_whatever_changes_in_a_plan_makes_it_another(store: Store, tmp_path: Path, changed: Planned) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a", "b")
    (first,) = await desk.asked()
    plan = Plan("a plan", tasks=(*planned("a"), changed))
    await desk.house.write(lambda tx: laying.set_plan(tx, BoardId(desk.run.id), plan))
    await desk.work()
    (second,) = await desk.asked()
    assert (second.id != first.id, second.hash != first.hash) == (True, True)


async def test_what_is_added_to_an_approved_plan_waits_until_that_is_approved_too(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a worker-1")
    await answer(desk, "approved")
    await desk.house.write(lambda tx: laying.add_tasks(tx, BoardId(desk.run.id), planned("more worker-2")))
    await desk.work()
    (asked,) = await desk.asked()
    assert "- more (worker-2): do more" in asked.body
    assert await desk.unread("worker-2") == []
    with pytest.raises(TeamRefused, match="was changed, and is not approved yet"):
        await desk.house.read(lambda tx: teamwork.check_work(tx, boards.get(tx, BoardId(desk.run.id))))
    await desk.turn("worker-1", HANDOFF)  # what is in hand goes on
    assert await desk.stage() == "working 1"
    await answer(desk, "approved")
    assert (await desk.task("more")).holder == (await desk.agent("worker-2")).id
    await desk.turn("worker-2", HANDOFF)
    assert await desk.stage() == "reviewing 1"


async def test_a_change_that_is_denied_goes_back_to_the_lead(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a worker-1")
    await answer(desk, "approved")
    await desk.house.write(lambda tx: laying.add_tasks(tx, BoardId(desk.run.id), planned("more worker-2")))
    await desk.work()
    await answer(desk, "denied", "not that")
    (told,) = await desk.unread("lead")
    assert told.startswith("human has denied the plan: not that")
    await desk.plans("a worker-1")  # as it was approved
    await desk.turn("worker-1", HANDOFF)
    assert (await desk.stage(), await desk.asked()) == ("reviewing 1", [])


async def test_what_a_review_has_found_is_mended_without_another_approval(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a worker-1", "b worker-2")
    await answer(desk, "approved")
    for name in ("worker-1", "worker-2"):
        await desk.turn(name, HANDOFF)
    await desk.reports("lead", "changes", Issue("wrong", task="a"))
    await desk.reports("reviewer-1", "approved")
    assert (await desk.stage(), await desk.asked()) == ("working 2", [])
    team = await desk.team()
    await desk.house.write(lambda tx: marks.clear(tx, team))  # as when somebody resumes it
    await desk.turn("worker-1", HANDOFF)
    assert (await desk.stage(), await desk.asked()) == ("reviewing 2", [])


async def test_nobody_takes_a_task_before_the_plan_is_approved(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a", "b")
    with pytest.raises(TeamRefused, match="the team is planning"):
        await desk.house.read(lambda tx: teamwork.check_work(tx, boards.get(tx, BoardId(desk.run.id))))
    await answer(desk, "approved")
    await desk.house.read(lambda tx: teamwork.check_work(tx, boards.get(tx, BoardId(desk.run.id))))


async def test_a_lead_that_makes_no_other_plan_ends_the_team(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a")
    await answer(desk, "denied")
    await desk.turn("lead", "I insist.")
    assert (await desk.team()).reason == "the plan was denied, and the lead has made no other"


async def test_a_person_who_leads_approves_no_plan_of_its_own(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(lead="human", asks_for_plan=True))
    await desk.house.write(lambda tx: laying.set_plan(tx, BoardId(desk.run.id), Plan(tasks=planned("a"))))
    await desk.work()
    assert (await desk.stage(), await desk.asked()) == ("working 1", [])


async def test_neither_the_lead_nor_the_reviewer_is_given_a_task(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(workers=("worker-1",)))
    await desk.plans("a", "b", "c")
    for name in ("a", "b", "c"):
        assert (await desk.task(name)).holder == (await desk.agent("worker-1")).id
        await desk.turn("worker-1", HANDOFF)
    assert await desk.stage() == "reviewing 1"


@pytest.mark.parametrize("name", ["lead", "reviewer-1"])
async def test_a_plan_that_nobody_can_begin_with_ends_the_team(store: Store, tmp_path: Path, name: str) -> None:
    """Only by ways around the tool, which refuses such a plan."""
    desk = await launched(store, tmp_path)
    await desk.plans(f"a {name}")
    assert (await desk.team()).reason == "nobody can begin with the plan: a"
