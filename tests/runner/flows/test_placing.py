"""Whose the work at a step is: a person who is asked, a vote, an approval, a task or a time that is waited for."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.engine.expressions.sandbox import Sandbox
from moot.requests import requests
from moot.requests.requests import Request
from moot.runner import idle
from moot.store.store import Store
from tests.flowing import Flows, carried_out
from tests.runner import team

ASKED = """
steps:
  - id: name
    type: user_input
    prompt: |
      Which files?
      One word.
    validation: {pattern: "^[a-z]+$", error_message: "Not {{ result }}."}
    max_retries: %d
    state_update: {path: raw.files}
"""


def _open(tx: ReadTx, flows: Flows, after: str = "") -> Request | None:
    return next((one for one in requests.open_of(tx, flows.house.stream) if one.id > after), None)


async def _question(flows: Flows, after: str = "") -> Request:
    return await flows.until(lambda tx: _open(tx, flows, after))


async def test_a_person_is_asked_and_a_wrong_answer_is_asked_for_again(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": ASKED % 2}) as flows:
        id = await flows.run()
        first = await _question(flows)
        assert (first.title, first.body) == ("Which files?", "One word.")
        assert (await flows.waits(id, "person")).is_live
        await flows.until(lambda tx: True if idle.is_idle(tx, flows.house.stream) else None)
        await flows.done("request_respond", request_id=first.id, answer="A B")
        second = await _question(flows, first.id)
        assert (second.title, second.body) == ("Which files?", "One word.\nNot A B.")
        await flows.done("request_respond", request_id=second.id, answer="src")
        assert (await flows.over(id)).status == "completed"
        assert await flows.flat(id) == {"files": "src"}
        assert (await flows.steps(id)) == ["name.user_input failed", "name.user_input success"]


async def test_the_last_wrong_answer_fails_the_flow_and_a_cancelled_question_does(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": ASKED % 0}) as flows:
        id = await flows.run()
        first = await _question(flows)
        await flows.done("request_respond", request_id=first.id, answer="1")
        assert "Not 1." in (await flows.over(id)).error


async def test_an_empty_answer_means_the_default_where_there_is_one(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: a, type: user_input, prompt: Branch?, default: main, state_update: {path: raw.a}}
  - {id: b, type: user_input, prompt: Level?, options: [1, true], default: 1, state_update: {path: raw.b}}
  - {id: c, type: user_input, prompt: Name?, state_update: {path: raw.c}}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        first = await _question(flows)
        assert first.body == "An empty answer means: main"
        await flows.done("request_respond", request_id=first.id, answer="")
        second = await _question(flows, first.id)
        assert (second.body, second.choices) == ("An empty answer means: 1", ("1", "true"))
        assert await flows.refused("request_respond", request_id=second.id, answer="2") == "ANSWER_REFUSED"
        await flows.done("request_respond", request_id=second.id, answer="TRUE")
        third = await _question(flows, second.id)
        assert await flows.refused("request_respond", request_id=third.id, answer="") == "ANSWER_REFUSED"
        await flows.done("request_respond", request_id=third.id, answer="ann")
        assert (await flows.over(id)).status == "completed"
        assert await flows.flat(id) == {"a": "main", "b": True, "c": "ann"}


async def test_tasks_that_ask_the_same_at_once_are_answered_each_by_itself(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps: [{id: all, type: parallel_foreach, items: [{id: left}, {id: right}], sub_agent_task: it}]
sub_agent_tasks:
  it: {steps: [{id: ask, type: user_input, prompt: Which way?, state_update: {path: "raw.{{ task_id }}"}}]}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        first = await _question(flows)
        second = await _question(flows, first.id)
        assert [one.title for one in (first, second)] == ["Which way?"] * 2
        assert [one.body for one in (first, second)] == ["For the task left.", "For the task right."]
        await flows.done("request_respond", request_id=second.id, answer="east")
        await flows.done("request_respond", request_id=first.id, answer="west")
        assert (await flows.over(id)).status == "completed"
        assert await flows.flat(id) == {"left": "west", "right": "east"}


async def test_a_flow_that_is_over_leaves_no_question_open(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
steps:
  - {id: all, type: parallel_foreach, items: [1, 2], sub_agent_task: it}
sub_agent_tasks:
  it:
    steps:
      - type: conditional
        condition: "{{ item == 2 }}"
        then: [{type: wait, for: 300ms}, {id: bad, type: shell_command, command: exit 1}]
      - {id: ask, type: user_input, prompt: Why?}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.run()
        asked = await _question(flows)
        assert (await flows.over(id)).status == "failed"
        after = await store.read(lambda tx: requests.get(tx, asked.id))
        assert after.state == "cancelled"


WAIT = """
inputs: {id: {type: string}}
steps:
  - {id: it, type: wait, %s: "{{ inputs.id }}", %s state_update: {path: raw.came}}
"""


async def test_a_flow_waits_for_a_vote(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": WAIT % ("vote", "")}) as flows:
        ann, ben = await flows.caller("ann"), await flows.caller("ben")
        for one in (ann, ben):
            await flows.done("agent_heartbeat", one)
        made = await flows.done("proposal_create", ann, title="Ship?", type="approval")
        id = await flows.run(id=made["id"])
        await flows.waits(id, "subject")
        for one in (ann, ben):
            await flows.done("vote", one, proposal=made["id"], choice="yes")
        assert (await flows.over(id)).status == "completed"
        assert (await flows.flat(id))["came"] == {"status": "resolved", "winner": "yes"}
        late = await flows.run(id=made["id"])
        assert (await flows.over(late)).status == "completed"


async def test_a_flow_waits_for_an_approval_and_fails_if_it_is_denied(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": WAIT % ("approval", "")}) as flows:
        ann = await flows.caller("ann")
        for approve, status in ((True, "completed"), (False, "failed")):
            asked = await flows.done("request_create", ann, to="human", type="permission", title="May I?")
            id = await flows.run(id=asked["id"])
            await flows.waits(id, "person")
            await flows.done("request_respond", request_id=asked["id"], approve=approve)
            assert (await flows.over(id)).status == status


async def test_a_flow_waits_for_a_task(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": WAIT % ("task", "")}) as flows:
        board = (await flows.done("workflow_create", name="b", source_type="text", source_content="x"))["id"]
        await flows.done("workflow_set_plan", id=board, plan=_plan("one"))
        ready = (await flows.done("workflow_next_tasks", workflow_id=board))["tasks"][0]["id"]
        ann = await flows.caller("ann")
        id = await flows.run(id=ready)
        await flows.waits(id, "subject")
        await flows.done("task_claim", ann, task_id=ready)
        await flows.done("task_update_status", ann, task_id=ready, status="completed", outcome="fine")
        assert (await flows.over(id)).status == "completed"
        assert (await flows.flat(id))["came"]["status"] == "completed"


def _plan(*names: str) -> dict[str, Json]:
    tasks: list[Json] = [{"name": name, "description": name} for name in names]
    return {"summary": "s", "approach": "a", "tasks": tasks}


@pytest.mark.parametrize(("rule", "status"), [("on_timeout: continue,", "completed"), ("", "failed")])
async def test_a_wait_has_an_end(store: Store, tmp_path: Path, sandbox: Sandbox, rule: str, status: str) -> None:
    text = WAIT % ("approval", f"timeout: 200, {rule}")
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        ann = await flows.caller("ann")
        asked = await flows.done("request_create", ann, to="human", type="permission", title="May I?")
        id = await flows.run(id=asked["id"])
        assert (await flows.over(id)).status == status


async def test_what_is_not_there_cannot_be_waited_for(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    for what in ("vote", "approval", "task"):
        async with carried_out(store, tmp_path / what, sandbox, {"flow": WAIT % (what, "")}) as flows:
            over = await flows.over(await flows.run(id="xy_1"))
            assert over.status == "failed"
            assert "it failed" in over.error


async def test_an_agent_that_asks_meanwhile_is_told_what_is_waited_for(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": WAIT % ("approval", "")}) as flows:
        ann = await flows.caller("ann")
        asked = await flows.done("request_create", ann, to="human", type="permission", title="May I?")
        id = await flows.start(id=asked["id"])
        step: dict[str, Any] = (await flows.next(id))["step"]
        assert (step["type"], step["definition"]["waiting_for"]) == ("wait", "wait")
        assert f"the request {asked['id']} to be answered" in step["instructions"]
        await flows.done("request_respond", request_id=asked["id"], approve=True)
        async with asyncio.timeout(team.SECONDS):
            while (step := (await flows.next(id))["step"]) is not None:
                assert step["type"] == "wait"
        assert (await flows.state(id))["came"]["state"] == "approved"
