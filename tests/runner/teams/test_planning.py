"""The lead plans, a person may have to agree, and only then is anything handed out."""

from pathlib import Path

import pytest

from moot.board import laying
from moot.board.plans import Plan
from moot.core.ids import BoardId
from moot.core.tx import Tx
from moot.registry import agents
from moot.requests.requests import Answerer, Verdict
from moot.store.store import Store
from moot.teams import stages
from moot.tools import asking
from moot.tools.asking import Reply
from tests.runner.teams.desk import HANDOFF, Desk, launched, planned, workflow


async def answer(desk: Desk, verdict: Verdict, text: str = "") -> None:
    (asked,) = await desk.asked()

    def change(tx: Tx) -> None:
        person = agents.person(tx, desk.house.instance)
        by = Answerer(person.name, person.id, is_operator=True)
        asking.answer(tx, desk.house.instance, asked.id, Reply(verdict, text), by)

    await desk.house.write(change)
    await desk.work()


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
