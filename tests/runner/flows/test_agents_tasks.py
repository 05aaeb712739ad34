"""Tasks of sub-agents: each belongs to whoever came for it first, knows its own item, and ends as its rules say."""

import asyncio
from pathlib import Path

import pytest

from moot.core.ids import FlowId
from moot.core.tx import ReadTx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import inbox, strands
from moot.store.store import Store
from tests.flowing import Flows, carried_out, laid_out

BATCHES = """
default_state: {raw: {done: {}, log: []}}
state_schema: {computed: {count: {from: raw.done, transform: Object.keys(input).length}}}
steps:
  - id: all
    type: parallel_foreach
    items: [{id: b0, files: [x, y]}, {id: b1, files: [z]}]
    max_parallel: 2
    sub_agent_task: batch
  - {id: told, type: user_message, message: "{{ count }} done"}
sub_agent_tasks:
  batch:
    inputs: {batch_id: {type: string}, files: {type: array}}
    steps:
      - id: each
        type: foreach
        items: "{{ files }}"
        steps:
          - id: look
            type: agent_shell_command
            command: cat {{ item }}
            state_update: {path: "raw.done.{{ item }}"}
      - {id: note, type: state_update, path: raw.log, operation: append, value: "{{ batch_id }}"}
"""


async def test_a_step_with_tasks_lists_each_with_its_context_and_words_for_sub_agents(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": BATCHES}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]
        assert (step["id"], step["type"]) == ("all.parallel_foreach", "parallel_tasks")
        assert step["definition"]["max_parallel"] == 2
        assert "workflow_get_next_step" in step["definition"]["sub_agent_prompt"]
        contexts = {one["task_id"]: one["context"] for one in step["definition"]["tasks"]}
        assert list(contexts) == ["b0", "b1"]
        assert contexts["b0"] == {
            "id": "b0",
            "batch_id": "b0",
            "files": ["x", "y"],
            "item": {"id": "b0", "files": ["x", "y"]},
            "index": 0,
            "task_id": "b0",
            "workflow_id": id,
        }
        assert not {"strategy", "sub_agent_task"} & step["definition"].keys()


async def test_tasks_that_go_on_side_by_side_each_go_through_their_own_items(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": BATCHES}) as flows:
        id = await flows.start()
        await flows.next(id)
        first, second = await flows.next(id, task="b0"), await flows.next(id, task="b1")
        assert first["step"]["definition"]["command"] == "cat x"
        assert second["step"]["definition"]["command"] == "cat z"
        await flows.complete(id, first["step"]["id"], task="b0", result="X")
        third = (await flows.next(id, task="b0"))["step"]
        assert (third["id"], third["definition"]["command"]) == ("each.steps[2].look.agent_shell_command", "cat y")
        assert await flows.walk(id, task="b1", each="Z") == [
            "each.steps[1].look.agent_shell_command",
            "note.state_update",
        ]
        assert await flows.refused("workflow_step_complete", workflow_id=id, step_id="all.parallel_foreach") == (
            "TASKS_UNFINISHED"
        )
        assert await flows.walk(id, task="b0", each="Y") == [third["id"], "note.state_update"]
        assert await flows.walk(id) == ["all.parallel_foreach", "told.user_message"]
        assert await flows.state(id) == {"done": {"x": "X", "z": "Z", "y": "Y"}, "log": ["b1", "b0"], "count": 3}
        assert not [key for key in await flows.fields(id) if "@" in key]


async def test_what_came_of_the_tasks_is_the_result_and_nobody_has_to_say_it(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = BATCHES.replace("max_parallel: 2", "state_update: {path: raw.ended}")
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]["id"]
        assert await flows.refused("workflow_step_complete", workflow_id=id, step_id=step) == "TASKS_UNFINISHED"
        for task in ("b0", "b1"):
            await flows.walk(id, task=task, each="seen")
        await flows.complete(id, step)
        assert (await flows.state(id))["ended"] == {"b0": "done", "b1": "done"}


async def test_a_task_belongs_to_whoever_came_first_and_nothing_else_that_is_said_counts(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": BATCHES}) as flows:
        lead, ann, ben = [await flows.caller(name) for name in ("lead", "ann", "ben")]
        id = await flows.start(by=lead)
        await flows.next(id, lead)
        forged = {"task_id": "b0", "files": ["/etc/passwd"], "workflow_id": "wf_other", "holder": "ben"}
        mine = await flows.done("workflow_get_next_step", ann, workflow_id=id, sub_agent_context=forged)
        assert mine["step"]["definition"]["command"] == "cat x"
        assert await flows.refused(
            "workflow_get_next_step", ben, workflow_id=id, sub_agent_context={"task_id": "b0"}
        ) == ("NOT_ALLOWED")
        assert await flows.refused(
            "workflow_step_complete",
            ben,
            workflow_id=id,
            step_id=mine["step"]["id"],
            sub_agent_context={"task_id": "b0"},
        ) == ("NOT_ALLOWED")
        assert await flows.refused("workflow_get_next_step", ann, workflow_id=id) == "NOT_ALLOWED"
        for unknown in ({"task_id": "b9"}, {"files": "x"}):
            code = await flows.refused("workflow_get_next_step", ben, workflow_id=id, sub_agent_context=unknown)
            assert code == "TASK_NOT_FOUND"
        assert len(await flows.walk(id, ben, task="b1", each="Z")) == 2
        updates = [{"path": "raw.log", "operation": "append", "value": "by ann"}]
        await flows.done("workflow_state_update", ann, workflow_id=id, updates=updates)
        nobody = await flows.caller("cat")
        assert await flows.refused("workflow_state_update", nobody, workflow_id=id, updates=updates) == "NOT_ALLOWED"


async def test_eight_sub_agents_at_once_lose_nothing(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
default_state: {raw: {sum: 0, log: [], by: {}}}
state_schema: {computed: {length: {from: raw.log, transform: input.length}}}
steps:
  - {id: all, type: parallel_foreach, items: "{{ [0,1,2,3,4,5,6,7] }}", sub_agent_task: add}
sub_agent_tasks:
  add:
    steps:
      - id: five
        type: foreach
        items: [0, 1, 2, 3, 4]
        steps:
          - {type: user_message, message: "{{ item }}"}
          - {type: state_update, path: raw.sum, operation: increment, value: 1}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        await flows.next(id)

        async def work(number: int) -> None:
            agent = await flows.caller(f"agent{number}")
            updates = [
                {"path": "raw.log", "operation": "append", "value": number},
                {"path": f"raw.by.a{number}", "operation": "increment", "value": 1},
            ]
            task = f"all_{number}"
            while (step := (await flows.next(id, agent, task))["step"]) is not None:
                if step["type"] == "user_message":
                    await flows.done("workflow_state_update", agent, workflow_id=id, updates=updates)
                await flows.complete(id, step["id"], agent, task)

        await asyncio.gather(*(work(number) for number in range(8)))
        state = await flows.state(id)
        assert (state["sum"], state["length"], sorted(state["log"])) == (40, 40, sorted([*range(8)] * 5))
        assert state["by"] == {f"a{number}": 5 for number in range(8)}
        assert await flows.walk(id) == ["all.parallel_foreach"]


FAILING = """
default_state: {raw: {errors: [], log: []}}
steps:
  - id: all
    type: parallel_foreach
    items: [{id: good}, {id: bad}]
    sub_agent_task: try
    on_sub_agent_error: %s
  - {id: told, type: user_message, message: "{{ errors.length }} failed"}
sub_agent_tasks:
  try:
    error_handling:
      cleanup_on_error:
        - {id: clean, type: state_update, path: raw.log, operation: append, value: "{{ id }}: {{ error.message }}"}
    steps:
      - {id: it, type: agent_shell_command, command: "do {{ id }}"}
"""


def free(tx: ReadTx, id: str, task: str) -> bool:
    found = strands.by_task(tx, FlowId(id), task)
    return found is not None and found.status == "ready" and found.holder is None


async def _bad(flows: Flows, id: str) -> None:
    """It says that its step failed, and cleans up as it is told."""
    step = (await flows.next(id, task="bad"))["step"]
    assert step["id"] == "it.agent_shell_command"
    said = await flows.complete(id, step["id"], task="bad", status="failed", error="no luck")
    assert said["error"] == "it failed: no luck. See why, or say what else to do: on_error."
    clean = (await flows.next(id, task="bad"))["step"]
    assert clean["id"] == "cleanup.clean.state_update"
    await flows.complete(id, clean["id"], task="bad")


async def test_a_flow_can_go_on_without_a_task_that_failed(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = FAILING % "{strategy: continue, error_state_path: raw.errors}"
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        await flows.next(id)
        await _bad(flows, id)
        over = await flows.next(id, task="bad")
        assert (over["step"], over["status"], over["error"]) == (None, "failed", "it failed: no luck.")
        await flows.walk(id, task="good")
        assert await flows.walk(id) == ["all.parallel_foreach", "told.user_message"]
        state = await flows.state(id)
        assert state["errors"] == [{"task_id": "bad", "error": "it failed: no luck."}]
        assert state["log"] == ["bad: it failed: no luck."]


async def test_a_task_that_failed_is_there_for_another_as_often_as_it_may_be(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = FAILING % "{strategy: retry_failed, max_retries: 1, error_state_path: raw.errors}"
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        ann, ben, lead = [await flows.caller(name) for name in ("ann", "ben", "lead")]
        id = await flows.start(by=lead)
        await flows.next(id, lead)
        step = (await flows.next(id, ann, "bad"))["step"]["id"]
        await flows.complete(id, step, ann, "bad", status="failed", error="no luck")
        await flows.complete(id, (await flows.next(id, ann, "bad"))["step"]["id"], ann, "bad")
        await flows.until(lambda tx: True if free(tx, id, "bad") else None)
        again = await flows.next(id, ben, "bad")
        assert again["step"]["id"] == "it.agent_shell_command"
        assert (
            await flows.refused("workflow_get_next_step", ann, workflow_id=id, sub_agent_context={"task_id": "bad"})
            == "NOT_ALLOWED"
        )
        await flows.complete(id, step, ben, "bad", status="failed", error="no luck again")
        await flows.complete(id, (await flows.next(id, ben, "bad"))["step"]["id"], ben, "bad")
        assert (await flows.next(id, ben, "bad"))["error"] == "it failed: no luck again."
        await flows.walk(id, ann, "good")
        said = await flows.complete(id, "all.parallel_foreach", lead)
        assert said["error"].startswith("1 sub-agent of all failed: bad: it failed: no luck again.")
        assert (await flows.flow(id)).status == "failed"
        assert (await flows.flat(id))["errors"] == [{"task_id": "bad", "error": "it failed: no luck again."}]


async def test_with_fail_all_the_step_fails_and_the_other_tasks_are_given_up(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": FAILING % "{strategy: fail_all}"}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.next(id, task="good")
        await _bad(flows, id)
        said = await flows.complete(id, "all.parallel_foreach")
        assert "1 sub-agent of all failed: bad" in said["error"]
        assert (await flows.flow(id)).status == "failed"
        good = await flows.next(id, task="good")
        assert (good["step"], good["status"]) == (None, "failed")
        assert await flows.refused(
            "workflow_step_complete",
            workflow_id=id,
            step_id="it.agent_shell_command",
            sub_agent_context={"task_id": "good"},
        ) == ("STEP_NOT_PENDING")


# Behind a loop that comes to its limit, which is noted, a task goes on only with the next commit.
LAST = """
steps:
  - {id: all, type: parallel_foreach, items: [{id: a}], sub_agent_task: it}
sub_agent_tasks:
  it:
    steps:
      - {id: do, type: agent_shell_command, command: do it}
%s
"""
ROUNDS = '      - {id: rounds, type: while, condition: "{{ true }}", max_iterations: 1, body: [{type: continue}]}'


def submitted(tx: ReadTx, id: str, count: int) -> bool | None:
    return True if len(inbox.waiting(tx, FlowId(id))) == count else None


@pytest.mark.parametrize("then", ["", ROUNDS, f"{ROUNDS}\n      - {{type: exit, status: failed}}"])
async def test_whoever_says_that_tasks_are_done_is_answered_when_all_that_was_said_before_has_its_effect(
    store: Store, tmp_path: Path, sandbox: Sandbox, then: str
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": LAST % then}) as flows, asyncio.TaskGroup() as group:
        async with flows.hosted():
            id = await flows.start()
            await flows.next(id)
            await flows.next(id, task="a")
        # Both wait before anybody looks, so that the second is taken in at the moment when the first is.
        first = group.create_task(flows.complete(id, "do.agent_shell_command", task="a"))
        await flows.until(lambda tx: submitted(tx, id, 1))
        second = group.create_task(flows.complete(id, "all.parallel_foreach"))
        await flows.until(lambda tx: submitted(tx, id, 2))
        async with flows.hosted():
            assert await first == {"success": True}
            assert ("error" in await second) == ("failed" in then)
            assert (await flows.over(id)).status == ("failed" if "failed" in then else "completed")


async def test_a_task_may_go_on_behind_its_own_errors(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
default_state: {raw: {log: []}}
steps: [{id: all, type: parallel_foreach, items: [1], sub_agent_task: try}]
sub_agent_tasks:
  try:
    error_handling: {return_on_error: false}
    steps:
      - {id: it, type: agent_shell_command, command: "do"}
      - {id: then, type: state_update, path: raw.log, operation: append, value: "{{ item }}"}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.next(id, task="all_0")
        await flows.complete(id, "it.agent_shell_command", task="all_0", status="failed", error="x")
        assert await flows.walk(id, task="all_0") == ["then.state_update"]
        assert await flows.walk(id) == ["all.parallel_foreach"]
        assert await flows.state(id) == {"log": [1]}


DETACHED = """
default_state: {raw: {log: []}}
steps:
  - id: all
    type: parallel_foreach
    items: [{id: a}, {id: b}]
    wait_for_all: false
    sub_agent_task: it
    on_sub_agent_error: {strategy: %s, error_state_path: raw.errors}
  - {id: told, type: user_message, message: on}
sub_agent_tasks:
  it: {steps: [{id: do, type: agent_shell_command, command: "do {{ id }}"}]}
"""


async def test_whoever_does_not_wait_goes_on_and_the_flow_is_over_with_the_last_task(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": DETACHED % "fail_all"}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.next(id, task="a")
        await flows.complete(id, "all.parallel_foreach")
        await flows.next(id)
        await flows.complete(id, "told.user_message")
        assert (await flows.flow(id)).status == "in_progress"
        await flows.walk(id, task="b")
        await flows.complete(id, "do.agent_shell_command", task="a")
        assert (await flows.over(id)).status == "completed"
        assert (await flows.next(id))["step"] is None


@pytest.mark.parametrize(("strategy", "status"), [("fail_all", "failed"), ("continue", "completed")])
async def test_a_task_for_which_nobody_waits_still_counts(
    store: Store, tmp_path: Path, sandbox: Sandbox, strategy: str, status: str
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": DETACHED % strategy}) as flows:
        id = await flows.start()
        for step in ("all.parallel_foreach", "told.user_message"):
            assert (await flows.next(id))["step"]["id"] == step
            await flows.complete(id, step)
        await flows.walk(id, task="a")
        await flows.next(id, task="b")
        await flows.complete(id, "do.agent_shell_command", task="b", status="failed", error="no")
        assert (await flows.over(id)).status == status
        assert (await flows.flat(id))["errors"] == [{"task_id": "b", "error": "do failed: no."}]


NESTED = """
steps:
  - {id: all, type: parallel_foreach, items: [{id: a}, {id: b}], sub_agent_task: outer}
sub_agent_tasks:
  outer:
    steps:
      - {id: in, type: parallel_foreach, items: ["{{ id }}1", "{{ id }}2"], sub_agent_task: inner}
  inner:
    steps:
      - {id: put, type: agent_shell_command, command: "put {{ item }}", state_update: {path: "raw.{{ item }}"}}
"""


async def test_tasks_of_tasks_have_names_of_their_own_and_all_can_be_reached(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": NESTED}) as flows:
        id = await flows.start()
        await flows.next(id)
        found: list[str] = []
        for outer in ("a", "b"):
            step = (await flows.next(id, task=outer))["step"]
            found += [one["task_id"] for one in step["definition"]["tasks"]]
        assert found == ["in_0", "in_1", "in_0~2", "in_1~2"]
        for task in found:
            await flows.walk(id, task=task, put=task)
        for outer in ("a", "b"):
            assert await flows.walk(id, task=outer) == ["in.parallel_foreach"]
        assert await flows.walk(id) == ["all.parallel_foreach"]
        assert await flows.state(id) == {"a1": "in_0", "a2": "in_1", "b1": "in_0~2", "b2": "in_1~2"}


async def test_what_a_failed_task_has_begun_is_over_with_it(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": NESTED}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.next(id, task="a")
        await flows.next(id, task="in_0")
        await flows.next(id, task="b")
        await flows.complete(id, "in.parallel_foreach", task="b", status="failed", error="no")
        assert "b: in failed: no" in (await flows.complete(id, "all.parallel_foreach"))["error"]
        assert {one.status for one in await flows.strands(id)} == {"failed"}
        assert (await flows.next(id, task="in_0"))["status"] == "failed"


async def test_a_loop_of_tasks_ends_when_all_are_ready(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    """Tasks whose needs are met, round after round, as sub-agents end them."""
    text = """
default_state: {raw: {ended: [], tasks: [{id: a, needs: []}, {id: b, needs: [a]}, {id: c, needs: [a, b]}]}}
state_schema:
  computed:
    ready:
      from: [raw.tasks, raw.ended]
      transform: input[0].filter(t => !input[1].includes(t.id) && t.needs.every(n => input[1].includes(n)))
steps:
  - id: rounds
    type: while
    condition: "{{ ready.length > 0 }}"
    body:
      - {id: all, type: parallel_foreach, items: "{{ ready }}", sub_agent_task: it}
sub_agent_tasks:
  it: {steps: [{id: end, type: state_update, path: raw.ended, operation: append, value: "{{ id }}"}]}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        for task in ("a", "b", "c"):
            step = (await flows.next(id))["step"]
            assert [one["task_id"] for one in step["definition"]["tasks"]] == [task]
            await flows.walk(id, task=task)
            await flows.complete(id, step["id"])
        assert (await flows.next(id))["step"] is None
        assert (await flows.state(id))["ended"] == ["a", "b", "c"]
