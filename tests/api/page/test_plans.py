"""Plans are seen by state, task by task and as a picture, however long they are."""

import re
from typing import Any

import pytest

from moot.board.claims import Holder
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.store.store import Store
from tests.board import desk as boards
from tests.board.desk import Desk
from tests.web.site import Browser


@pytest.fixture
async def ann(store: Store) -> Holder:
    def change(tx: Tx) -> Holder:
        agent = agents.ensure(tx, instances.ensure(tx, "default"), NewAgent(name="ann"))
        return Holder(agent.id, agent.name, "tok_ann")

    return await store.write(change, caller=SYSTEM)


@pytest.fixture
async def desk(store: Store) -> Desk:
    return await boards.desk(store, "a", "b: a", "c: a b", "d", "e", "f")


def names(column: Any) -> list[str]:
    return [one["name"] for one in column["tasks"]]


async def test_tasks_are_shown_by_state_with_who_holds_them(browser: Browser, desk: Desk, ann: Holder) -> None:
    await desk.do("a", ann)
    await desk.claim("b", ann)
    await desk.claim("d", ann)
    await desk.fail("d", ann)
    await desk.skip("e")
    found = await browser.get(f"/api/plans/{desk.board.id}/board")
    columns = {one["status"]: one for one in found["columns"]}
    assert {status: names(one) for status, one in columns.items()} == {
        "blocked": ["c"],
        "ready": ["f"],
        "planning": ["b"],
        "in_progress": [],
        "verifying": [],
        "failed": ["d"],
        "completed": ["e", "a"],
    }
    assert {status: one["total"] for status, one in columns.items() if one["total"]} == {
        "blocked": 1,
        "ready": 1,
        "planning": 1,
        "failed": 1,
        "completed": 2,
    }
    (held,) = columns["planning"]["tasks"]
    assert (held["holder"], held["is_lapsed"], held["lease_until"] is not None) == ("ann", False, True)
    (plan,) = (await browser.get("/api/plans"))["plans"]
    assert (plan["total"], plan["done"], plan["at_work"], plan["blocked"], plan["failed"]) == (6, 2, 1, 1, 1)


async def test_a_column_is_seen_in_windows(browser: Browser, store: Store, ann: Holder) -> None:
    desk = await boards.desk(store, "x", *[f"t{number}: x" for number in range(5)])
    path = f"/api/plans/{desk.board.id}/tasks"
    first = await browser.get(path, status="blocked", limit=2)
    rest = await browser.get(path, status="blocked", limit=5, after=first["next"])
    assert (names(first), names(rest), rest["next"]) == (["t0", "t1"], ["t2", "t3", "t4"], None)
    for name in ("x", "t0", "t1"):
        await desk.do(name, ann)
    last = await browser.get(path, status="completed", limit=2)
    before = await browser.get(path, status="completed", limit=2, after=last["next"])
    assert (sorted(names(last) + names(before)), before["next"]) == (["t0", "t1", "x"], None)
    assert await browser.refused(path, status="nowhere") == (400, "INVALID_INPUT")
    assert await browser.refused("/api/plans/wf_none/board") == (404, "WORKFLOW_NOT_FOUND")


async def test_a_task_is_shown_with_all_that_is_known(browser: Browser, desk: Desk, ann: Holder) -> None:
    await desk.do("a", ann)
    task = await desk.task("b")
    found = await browser.get(f"/api/tasks/{task.id}")
    assert (found["task"]["description"], found["task"]["status"]) == ("do b", "ready")
    assert [(one["name"], one["status"]) for one in found["needs"]] == [("a", "completed")]
    assert [one["name"] for one in found["dependants"]] == ["c"]
    assert await browser.refused("/api/tasks/tk_none") == (404, "TASK_NOT_FOUND")


async def test_a_failed_task_is_tried_again(browser: Browser, desk: Desk, ann: Holder) -> None:
    await desk.claim("d", ann)
    task = await desk.task("d")
    await desk.fail("d", ann)
    again = await browser.post(f"/api/tasks/{task.id}/retry", {})
    assert again["task"]["status"] == "ready"
    assert await browser.refused(f"/api/tasks/{task.id}/retry", {}) == (409, "CLAIM_LOST")


async def test_a_plan_is_drawn_with_a_key_for_each_task(browser: Browser, desk: Desk, ann: Holder) -> None:
    await desk.do("a", ann)
    answer = await browser.client.get(f"/api/plans/{desk.board.id}/graph.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    drawn = dict(re.findall(r'<g data-key="(tk_\w+)" data-kind="(\w+)">', answer.text))
    assert drawn[(await desk.task("a")).id] == "completed"
    assert len(drawn) == 6
    few = await browser.client.get(f"/api/plans/{desk.board.id}/graph.svg?limit=2&after=0")
    assert len(re.findall("data-key", few.text)) == 2


async def test_markup_in_a_task_stays_text_in_the_picture(browser: Browser, store: Store) -> None:
    desk = await boards.desk(store, "<script>alert(1)</script>")
    text = (await browser.client.get(f"/api/plans/{desk.board.id}/graph.svg")).text
    assert "<script" not in text
    assert "&lt;script&gt;" in text
