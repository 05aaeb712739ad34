"""An agent that drives a flow is given one step at a time: each once, the same until it is done, and nothing twice."""

import asyncio
import os
from pathlib import Path

import pytest

from moot.core.ids import FlowId
from moot.core.json import Json
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import inbox
from moot.store.store import Store
from tests.flowing import OPERATOR, SECONDS, carried_out, laid_out

UPDATE = """
default_state: {raw: {n: 1}}
state_schema: {computed: {double: {from: raw.n, transform: input * 2}}}
steps:
  - {id: add, type: state_update, path: raw.n, operation: increment, value: "{{ n + 1 }}"}
  - {id: told, type: user_message, message: "n is {{ n }}, twice that is {{ double }}"}
"""
ADDED = [{"path": "raw.n", "operation": "increment", "value": 2}]


async def test_an_update_is_handed_out_with_its_values_and_made_by_whoever_completes_it(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        id = await flows.start()
        assert (await flows.next(id))["step"] == {
            "id": "add.state_update",
            "type": "state_update",
            "instructions": "Make these updates of the state. Their values are final: compute nothing.",
            "definition": {"updates": ADDED},
            "original_expression": "n + 1",
        }
        assert await flows.flat(id) == {"n": 1, "double": 2}
        assert await flows.complete(id, "add.state_update") == {"success": True}
        assert (await flows.next(id))["step"]["definition"] == {"message": "n is 3, twice that is 6"}


async def test_an_update_that_the_agent_makes_itself_is_not_made_again_when_it_completes_the_step(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        id = await flows.start()
        await flows.next(id)
        made = await flows.done("workflow_state_update", workflow_id=id, updates=ADDED)
        assert (made["success"], made["computed"]) == (True, {"double": 6})
        again = await flows.done("workflow_state_update", workflow_id=id, updates=ADDED)
        assert again["computed"] == {}
        assert (await flows.next(id))["step"]["id"] == "add.state_update"
        await flows.complete(id, "add.state_update")
        assert await flows.state(id) == {"n": 3, "double": 6}


async def test_another_update_than_the_one_in_hand_is_made_besides(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        id = await flows.start()
        await flows.next(id)
        other = [{"path": "raw.n", "operation": "increment", "value": 10}]
        assert (await flows.done("workflow_state_update", workflow_id=id, updates=other))["computed"] == {"double": 22}
        await flows.complete(id, "add.state_update")
        assert await flows.state(id) == {"n": 13, "double": 26}


async def test_an_increment_that_says_nothing_adds_one_and_one_of_nothing_is_refused(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
default_state: {raw: {n: 1}}
steps:
  - {id: one, type: state_update, path: raw.n, operation: increment}
  - {id: other, type: state_update, path: raw.n, operation: increment, value: "{{ null }}"}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]
        assert step["definition"]["updates"] == [{"path": "raw.n", "operation": "increment", "value": 1}]
        bare = [{"path": "raw.n", "operation": "increment"}]  # the same, as an agent may say it
        await flows.done("workflow_state_update", workflow_id=id, updates=bare)
        await flows.complete(id, step["id"])
        assert "null cannot be added" in (await flows.over(id)).error
        assert await flows.flat(id) == {"n": 2}


EACH = """
default_state: {raw: {seen: [], count: {}}}
steps:
  - id: all
    type: foreach
    items: ["a.ts", "b", "c d"]
    steps:
      - {type: state_update, path: raw.seen, operation: append, value: "{{ item }}"}
      - {type: state_update, path: "raw.count.{{ item | path_to_key }}", value: "{{ seen.length + index }}"}
  - {id: told, type: user_message, message: "{{ seen }}"}
"""


async def test_the_updates_of_a_loop_that_does_nothing_else_come_as_one_step(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": EACH}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]
        assert step["id"] == "all.steps[1].0.state_update"
        assert step["definition"]["updates"] == [
            {"path": "raw.seen", "operation": "append", "value": "a.ts"},
            {"path": 'raw.count["a.ts"]', "operation": "set", "value": 1},
            {"path": "raw.seen", "operation": "append", "value": "b"},
            {"path": "raw.count.b", "operation": "set", "value": 3},
            {"path": "raw.seen", "operation": "append", "value": "c d"},
            {"path": 'raw.count["c d"]', "operation": "set", "value": 5},
        ]
        await flows.complete(id, step["id"])
        assert await flows.walk(id) == ["told.user_message"]
        assert await flows.state(id) == {"seen": ["a.ts", "b", "c d"], "count": {"a.ts": 1, "b": 3, "c d": 5}}
        assert (await flows.flow(id)).status == "completed"


async def test_an_update_of_a_loop_that_fails_is_told_after_those_before_it(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
default_state: {raw: {seen: []}}
steps:
  - {id: all, type: foreach, items: [{v: 1}, null], steps: [
      {type: state_update, path: raw.seen, operation: append, value: "{{ item.v }}"}]}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]
        assert step["definition"]["updates"] == [{"path": "raw.seen", "operation": "append", "value": 1}]
        await flows.complete(id, step["id"])
        over = await flows.over(id)
        assert over.status == "failed"
        assert "{{ item.v }} failed" in over.error
        assert await flows.flat(id) == {"seen": [1]}


SHELL = """
steps:
  - {id: one, type: shell_command, command: "echo x >> count; wc -l < count", output_format: json,
     state_update: {path: raw.lines}}
  - {id: told, type: user_message, message: "{{ lines }}"}
  - {id: two, type: shell_command, command: "echo x >> count; exit 3", on_error: continue}
  - {id: bye, type: user_message, message: bye}
"""


async def test_asking_again_gives_the_same_step_and_runs_no_command_again(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": SHELL}) as flows:
        id = await flows.start()
        found = [await flows.next(id) for _ in range(3)]
        found += await asyncio.gather(*(flows.next(id) for _ in range(5)))
        assert all(one == found[0] for one in found)
        assert found[0]["step"]["definition"] == {"message": "1"}
        (executed,) = found[0]["executed"]
        assert (executed["id"], executed["status"]) == ("one.shell_command", "success")
        assert executed["detail"]["command"] == "echo x >> count; wc -l < count"
        assert (tmp_path / "count").read_text() == "x\n"
        assert await flows.complete(id, "one.shell_command") == {"success": True}
        assert await flows.refused("workflow_step_complete", workflow_id=id, step_id="none.x") == "STEP_NOT_PENDING"
        await flows.complete(id, "told.user_message")
        after = await flows.next(id)
        assert [(one["id"], one["status"]) for one in after["executed"]] == [("two.shell_command", "failed")]
        assert "exit code 3" in after["executed"][0]["detail"]["warning"]
        assert (tmp_path / "count").read_text() == "x\nx\n"


async def test_completing_a_step_again_does_nothing(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        id = await flows.start()
        await flows.next(id)
        twice = await asyncio.gather(*(flows.complete(id, "add.state_update") for _ in range(4)))
        assert twice == [{"success": True}] * 4
        assert await flows.complete(id, "add.state_update") == {"success": True}
        assert await flows.state(id) == {"n": 3, "double": 6}
        assert (await flows.steps(id)).count("add.state_update success") == 1


async def test_another_step_than_the_one_in_hand_cannot_be_completed(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        id = await flows.start()
        await flows.next(id)
        code = await flows.refused("workflow_step_complete", workflow_id=id, step_id="told.user_message")
        assert code == "STEP_NOT_PENDING"


ASKED = """
default_state: {raw: {}}
state_schema: {computed: {loud: {from: raw.answer, transform: input.toUpperCase()}}}
steps:
  - id: name
    type: user_input
    prompt: Your name?
    validation: {pattern: "^[a-z]+$", error_message: "Small letters, not {{ result }}."}
    max_retries: 1
    state_update: {path: raw.answer}
  - {id: told, type: user_message, message: "{{ loud }}"}
"""


async def test_a_step_that_writes_its_result_is_not_done_without_one(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": ASKED}) as flows:
        id = await flows.start()
        await flows.next(id)
        code = await flows.refused("workflow_step_complete", workflow_id=id, step_id="name.user_input")
        assert code == "RESULT_MISSING"
        await flows.complete(id, "name.user_input", result="ann")
        assert (await flows.next(id))["step"]["definition"] == {"message": "ANN"}


async def test_a_result_that_the_agent_has_written_itself_is_one(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": ASKED}) as flows:
        id = await flows.start()
        await flows.next(id)
        updates = [{"path": "raw.answer", "value": "ben"}]
        assert (await flows.done("workflow_state_update", workflow_id=id, updates=updates))["computed"] == {
            "loud": "BEN"
        }
        await flows.complete(id, "name.user_input")
        assert (await flows.next(id))["step"]["definition"] == {"message": "BEN"}


RULED = """
default_state: {raw: {}}
steps:
  - {id: name, type: user_input, prompt: Who?, max_retries: 1, validation: {pattern: "^[a-z]+$"},
     state_update: {path: "raw.answers.{{ 'a.b' }}"}}
  - {id: level, type: user_input, prompt: How?, options: [1, 2], max_retries: 0, state_update: {path: raw.level}}
  - {id: rate, type: agent_prompt, prompt: Rate it., schema: {type: integer}, state_update: {path: raw.rate}}
  - {id: more, type: user_input, prompt: More?, options: ["yes", "no"],
     state_update: {path: raw.more, operation: append}}
  - {id: told, type: user_message, message: "{{ [answers['a.b'], level, rate, more] }}"}
"""


async def test_what_an_agent_writes_itself_has_to_follow_the_rules_of_its_step(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": RULED}) as flows:
        id = await flows.start()

        async def write(path: str, value: Json) -> None:
            await flows.done("workflow_state_update", workflow_id=id, updates=[{"path": path, "value": value}])

        await flows.next(id)
        await write('raw.answers["a.b"]', "Ann")
        for _ in range(2):
            told = await flows.complete(id, "name.user_input")
            assert told == {"success": False, "error": "The answer must have the form ^[a-z]+$."}
        assert (await flows.next(id))["step"]["id"] == "name.user_input"
        await write('raw.answers["a.b"]', "ann")
        assert await flows.complete(id, "name.user_input") == {"success": True}
        await write("raw.level", "2")
        assert await flows.complete(id, "level.user_input") == {"success": True}
        await write("raw.rate", "much")
        assert "error" in await flows.complete(id, "rate.agent_prompt")
        await write("raw.rate", 5)
        await flows.complete(id, "rate.agent_prompt")
        await write("raw.more", ["maybe"])
        code = await flows.refused("workflow_step_complete", workflow_id=id, step_id="more.user_input")
        assert code == "RESULT_MISSING"
        await write("raw.more", [])
        await flows.complete(id, "more.user_input", result="yes")
        assert (await flows.next(id))["step"]["definition"] == {"message": '["ann",2,5,["yes"]]'}


async def test_a_wrong_answer_is_asked_for_again_and_the_last_one_fails_the_flow(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": ASKED}) as flows:
        id = await flows.start()
        await flows.next(id)
        assert (await flows.complete(id, "name.user_input", result="Ann"))["error"] == "Small letters, not Ann."
        again = (await flows.next(id))["step"]
        assert (again["id"], again["definition"]["previous_error"]) == ("name.user_input", "Small letters, not Ann.")
        assert "was not answered" in (await flows.complete(id, "name.user_input", result="1"))["error"]
        assert await flows.refused("workflow_get_next_step", workflow_id=id) == "WORKFLOW_FAILED"
        assert (await flows.flow(id)).status == "failed"


async def test_a_wrong_answer_that_is_said_again_because_nobody_heard_is_one_try(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": ASKED}) as flows:
        id = await flows.start()
        await flows.next(id)
        wrong = "Small letters, not Ann."
        assert (await flows.complete(id, "name.user_input", result="Ann"))["error"] == wrong
        for _ in range(3):
            assert (await flows.complete(id, "name.user_input", result="Ann"))["error"] == wrong
        assert (await flows.steps(id)) == ["name.user_input failed"]
        again = await flows.next(id)
        assert (again["step"]["definition"]["previous_error"], again["executed"]) == (wrong, [])
        assert "was not answered" in (await flows.complete(id, "name.user_input", result="Ann"))["error"]
        assert (await flows.flow(id)).status == "failed"


async def test_said_twice_at_once_a_wrong_answer_is_one_try(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": ASKED}) as flows:
        id = await flows.start()
        await flows.next(id)
        told = await asyncio.gather(*(flows.complete(id, "name.user_input", result="Ann") for _ in range(8)))
        assert [one["error"] for one in told] == ["Small letters, not Ann."] * 8
        assert (await flows.steps(id)) == ["name.user_input failed"]
        await flows.complete(id, "name.user_input", result="ann")
        assert (await flows.next(id))["step"]["definition"] == {"message": "ANN"}


async def test_a_failure_that_is_said_again_is_one_try(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
steps:
  - {id: it, type: agent_shell_command, command: x, on_error: retry, retry_count: 1, retry_delay: 0}
  - {id: told, type: user_message, message: end}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        await flows.next(id)
        for _ in range(3):
            said = await flows.complete(id, "it.agent_shell_command", status="failed", error="no")
            assert said == {"success": True, "error": "no"}
        await flows.complete(id, "it.agent_shell_command", result="fine")
        assert (await flows.next(id))["step"]["id"] == "told.user_message"


async def test_a_flow_with_steps_left_is_no_success_and_its_end_is_final(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        id = await flows.start()
        assert await flows.refused("workflow_complete", workflow_id=id, status="success") == "INVALID_TRANSITION"
        await flows.walk(id)
        ended = await flows.done("workflow_complete", workflow_id=id)
        assert ended == {"success": True, "final_state": {"n": 3, "double": 6}}
        assert await flows.done("workflow_complete", workflow_id=id) == ended
        assert await flows.refused("workflow_complete", workflow_id=id, status="failed") == "INVALID_TRANSITION"
        assert await flows.refused("workflow_state_update", workflow_id=id, updates=ADDED) == "INVALID_TRANSITION"
        assert await flows.next(id) == {"step": None, "status": "completed", "executed": []}


@pytest.mark.parametrize("then", ["", "  - {id: end, type: shell_command, command: echo x >> ran}\n"])
async def test_a_flow_whose_last_step_was_completed_is_a_success_at_once(
    store: Store, tmp_path: Path, sandbox: Sandbox, then: str
) -> None:
    """Nobody has to ask for a further step that there is not, nor for one that moot takes by itself."""
    text = f"steps:\n  - {{id: one, type: user_message, message: hello}}\n{then}"
    async with laid_out(store, tmp_path, sandbox, {"flow": text}) as flows, asyncio.TaskGroup() as group:
        async with flows.hosted():
            id = await flows.start()
            await flows.next(id)
        completing = group.create_task(flows.complete(id, "one.user_message"))
        await flows.until(lambda tx: True if inbox.waiting(tx, FlowId(id)) else None)
        ending = group.create_task(flows.done("workflow_complete", workflow_id=id))
        async with flows.hosted():
            assert await completing == {"success": True}
            assert await ending == {"success": True, "final_state": {}}
            assert (await flows.flow(id)).status == "completed"
            assert (tmp_path / "ran").exists() == bool(then)


async def test_a_flow_that_is_cancelled_ends_the_command_that_runs(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: hang, type: shell_command, command: "exec sleep 600 > pipe"}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        os.mkfifo(tmp_path / "pipe")
        id = await flows.start()
        async with asyncio.timeout(SECONDS):
            with await asyncio.to_thread((tmp_path / "pipe").open) as pipe:  # when the command has it open, too
                ended = await flows.done("workflow_complete", workflow_id=id, status="cancelled")
                assert ended["success"] is False
                assert await asyncio.to_thread(pipe.read) == ""  # until nobody has
        assert (await flows.flow(id)).status == "abandoned"
        assert await flows.refused("workflow_get_next_step", workflow_id=id) == "WORKFLOW_FAILED"


async def test_only_who_started_a_flow_drives_it(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        ann, ben = await flows.caller("ann"), await flows.caller("ben")
        id = await flows.start(by=ann)
        await flows.next(id, ann)
        for tool, more in (
            ("workflow_get_next_step", {}),
            ("workflow_step_complete", {"step_id": "add.state_update"}),
            ("workflow_state_update", {"updates": ADDED}),
            ("workflow_complete", {"status": "cancelled"}),
        ):
            assert await flows.refused(tool, ben, workflow_id=id, **more) == "NOT_ALLOWED", tool
        assert await flows.walk(id, ann) == ["add.state_update", "told.user_message"]
        assert OPERATOR.agent is None


async def test_a_key_gives_the_same_answer_and_starts_one_flow(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": UPDATE}) as flows:
        first, second = [await flows.call("workflow_start", {"workflow": "flow"}, key="k") for _ in range(2)]
        assert first.structured == second.structured


TWICE = """
steps:
  - {id: one, type: agent_prompt, prompt: first, state_update: {path: raw.said}}
  - {id: two, type: agent_prompt, prompt: "after {{ said }}", state_update: {path: raw.said}}
  - {id: end, type: user_message, message: "{{ said }}"}
"""


async def test_the_word_that_a_step_is_done_and_the_next_step_are_one_commit(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": TWICE}) as flows:
        id = await flows.start()
        await flows.next(id)
        before = await flows.flow(id)
        await flows.complete(id, "one.agent_prompt", result="a")
        after = await flows.flow(id)
        assert (after.version, after.waits_for, after.last_step) == (before.version + 1, "agent", 1)
        assert (await flows.next(id))["step"]["definition"]["prompt"] == "after a"


async def test_what_the_last_step_has_written_is_no_result_of_the_next(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": TWICE}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.complete(id, "one.agent_prompt", result="a")
        again = await flows.refused("workflow_step_complete", workflow_id=id, step_id="two.agent_prompt")
        assert again == "RESULT_MISSING"
        await flows.done("workflow_state_update", workflow_id=id, updates=[{"path": "raw.said", "value": "b"}])
        await flows.complete(id, "two.agent_prompt")
        assert (await flows.next(id))["step"]["definition"] == {"message": "b"}


async def test_a_step_deep_inside_others_is_completed_by_its_id(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    deep = "{id: told, type: user_message, message: here}"
    for level in range(20):
        deep = f'{{id: a_level_with_a_name_{level}, type: conditional, condition: "true", then: [{deep}]}}'
    async with carried_out(store, tmp_path, sandbox, {"flow": f"steps: [{deep}]"}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]["id"]
        assert len(step) > 500
        assert await flows.complete(id, step) == {"success": True}
        assert (await flows.next(id))["step"] is None
