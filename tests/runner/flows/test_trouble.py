"""What happens when a step fails and its own rules do not take care of it: the definition says so."""

from pathlib import Path

import pytest

from moot.core.ids import FlowId
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import history
from moot.store.store import Store
from tests.flowing import carried_out

TEXT = """
default_state: {raw: {errors: [], runs: 0}}
%s
steps:
  - {id: count, type: shell_command, command: "echo x >> runs"}
  - {id: bad, type: shell_command, command: "echo no >&2; exit 4"}
  - {id: after, type: state_update, path: raw.runs, operation: increment}
"""


async def test_a_flow_fails_with_its_state_kept_and_what_follows_a_failure_done(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    how = """
error_handling:
  error_collection: {enabled: true, state_path: raw.errors}
  on_failure:
    - {id: tell, type: user_message, message: "It failed: {{ error.message }}"}
    - {id: set, type: state_update, path: raw.status, value: "{{ error.step_id }}"}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT % how}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]
        assert step["id"] == "failure.tell.user_message"
        assert step["definition"]["message"].startswith("It failed: bad failed: ")
        await flows.complete(id, step["id"])
        await flows.next(id)
        await flows.complete(id, "failure.set.state_update")
        over = await flows.over(id)
        assert (over.status, over.error[:11]) == ("failed", "bad failed:")
        state = await flows.state(id)
        assert (state["status"], state["runs"]) == ("bad.shell_command", 0)
        ((code, step_id),) = [(one["type"], one["step_id"]) for one in state["errors"]]
        assert (code, step_id) == ("STEP_FAILED", "bad.shell_command")
        (kept,) = await store.read(lambda tx: history.checkpoints(tx, FlowId(id)))
        assert (kept.step_id, kept.state["runs"]) == ("bad.shell_command", 0)


async def test_a_flow_may_go_on_behind_what_has_failed(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    how = "error_handling: {on_error: continue, error_collection: {enabled: true, state_path: raw.errors}}"
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT % how}) as flows:
        id = await flows.start()
        assert await flows.walk(id) == ["after.state_update"]
        state = await flows.state(id)
        assert (state["runs"], len(state["errors"])) == (1, 1)
        assert (await flows.steps(id))[1] == "bad.shell_command failed"


async def test_a_flow_may_begin_anew_with_nothing_of_what_it_knew(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
default_state: {raw: {log: []}}
error_handling: {on_error: retry_workflow, max_retries: 2}
steps:
  - {id: all, type: parallel_foreach, items: [1, 2], sub_agent_task: it}
sub_agent_tasks:
  it: {steps: [{id: do, type: agent_shell_command, command: "do {{ item }}", state_update: {path: "raw.r{{ item }}"}}]}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        for _ in range(3):
            await flows.next(id)
            await flows.next(id, task="all_0")
            await flows.next(id, task="all_1")
            await flows.complete(id, "do.agent_shell_command", task="all_1", result="x")
            await flows.complete(id, "do.agent_shell_command", task="all_0", status="failed", error="no")
            said = await flows.complete(id, "all.parallel_foreach")
            assert "sub-agent of all failed" in said["error"]
        assert (await flows.over(id)).status == "failed"
        assert (await flows.steps(id)).count("all.parallel_foreach failed") == 3


@pytest.mark.parametrize(("command", "words"), [("exit 4", "4"), ("kill -9 $$", "9"), ("sleep 100", "time")])
async def test_a_command_that_fails_says_how(
    store: Store, tmp_path: Path, sandbox: Sandbox, command: str, words: str
) -> None:
    text = f"""
steps:
  - {{id: bad, type: shell_command, command: "echo so >&2; {command}", timeout: 5000}}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        over = await flows.over(id)
        assert over.status == "failed"
        assert words in over.error
        assert "so" in over.error


async def test_a_command_is_tried_again_as_often_as_it_may_be(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
steps:
  - {id: it, type: shell_command, command: "echo x >> n; test $(wc -l < n) = 3 && echo fine", on_error: retry,
     retry_count: 5, retry_delay: 20, state_update: {path: raw.said}}
  - {id: never, type: shell_command, command: "echo x >> m; exit 1", on_error: retry, retry_count: 2, retry_delay: 0,
     fallback_value: {ok: false}, error_state_update: {path: raw.why, value: "{{ error.exit_code }}"},
     state_update: {path: raw.other}}
  - {id: end, type: user_message, message: end}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        found = await flows.next(id)
        assert await flows.flat(id) == {"said": "fine", "other": {"ok": False}, "why": 1}
        assert (tmp_path / "n").read_text() == "x\n" * 3
        assert (tmp_path / "m").read_text() == "x\n" * 3
        told = [(one["id"].split(".")[0], one["status"]) for one in found["executed"]]
        assert told == [("it", "failed")] * 2 + [("it", "success")] + [("never", "failed")] * 3


async def test_an_update_that_cannot_be_made_any_more_fails_its_step_and_not_the_host(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
default_state: {raw: {n: 1}}
steps: [{id: add, type: state_update, path: raw.n, operation: increment, value: 1}]
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.done("workflow_state_update", workflow_id=id, updates=[{"path": "raw.n", "value": "text"}])
        assert "cannot be added" in (await flows.complete(id, "add.state_update"))["error"]
        assert (await flows.flow(id)).status == "failed"
        other = await flows.start()
        assert (await flows.next(other))["step"]["id"] == "add.state_update"


async def test_updates_of_others_are_made_although_one_among_them_is_refused(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
default_state: {raw: {n: 1, text: a}}
state_schema: {computed: {bad: {from: raw.n, transform: "if (input > 5) throw new Error('too much'); return input"}}}
steps: [{id: it, type: user_message, message: hi}]
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        for updates, code in (
            ([{"path": "raw.text", "operation": "increment", "value": 1}], "STATE_UPDATE_REFUSED"),
            ([{"path": "raw.n", "value": 9}], "TRANSFORM_FAILED"),
            ([{"path": "computed.bad", "value": 9}], "STATE_PATH_INVALID"),
            ([{"path": "raw.__proto__.x", "value": 9}], "STATE_PATH_INVALID"),
            ([{"path": "loop.it", "value": 9}], "STATE_PATH_INVALID"),
        ):
            assert await flows.refused("workflow_state_update", workflow_id=id, updates=updates) == code
        assert await flows.state(id) == {"n": 1, "text": "a", "bad": 1}
        await flows.done("workflow_state_update", workflow_id=id, updates=[{"path": "raw.n", "value": 4}])
        assert await flows.state(id) == {"n": 4, "text": "a", "bad": 4}


async def test_an_expression_that_fails_is_told_with_its_step_and_line(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: well, type: state_update, path: raw.n, value: 1}
  - {id: gate, type: conditional, condition: "{{ a.b.c > 1 }}", then: [{type: exit}]}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        over = await flows.over(await flows.run())
        assert over.error.startswith("gate.conditional (line 4): {{ a.b.c > 1 }} failed: ReferenceError: ")


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (
            "{id: add, type: state_update, path: raw.s, operation: append, value: 1}",
            "add.state_update (line 4): raw.s is a text; only to a list can be appended.",
        ),
        (
            "{type: foreach, items: '{{ 5 }}', steps: [{type: exit}]}",
            "0.foreach (line 4): The items of 0.foreach are no list.",
        ),
        (
            "{id: w, type: while, condition: 'true', max_iterations: 3, on_max_iterations: fail, body: []}",
            "w.while (line 4): The loop w has gone through 3 rounds",
        ),
        ("{id: run, type: shell_command, command: exit 2}", "run failed: exit code 2"),
        ("{id: raw, type: shell_command, command: exit 2, state_update: {path: raw.s}}", "raw failed: exit code 2"),
        (
            "{id: run, type: shell_command, command: 'true', state_update: {path: raw.s, operation: increment}}",
            "run.shell_command (line 4): raw.s is a text and",
        ),
        ("{id: in, type: include_workflow, workflow: inner}", "in.workflow.deep.state_update (line 4): raw.s is a"),
    ],
)
async def test_a_failure_is_told_with_its_step_and_a_line_unless_it_names_the_step(
    store: Store, tmp_path: Path, sandbox: Sandbox, step: str, told: str
) -> None:
    begin = "default_state: {raw: {s: a}}\nsteps:\n  -"
    inner = f"name: inner\n{begin} {{id: deep, type: state_update, path: raw.s, operation: append, value: 1}}"
    texts = {"flow": f"imports: [inner]\n{begin} {step}", "inner": inner}
    async with carried_out(store, tmp_path, sandbox, texts) as flows:
        over = await flows.over(await flows.run())
        assert over.error.startswith(told)
        (failed, *_) = [one for one in await store.read(lambda tx: history.steps(tx, over.id)) if one.error]
        assert failed.error.startswith(told)


async def test_a_step_without_an_id_is_told_of_by_the_way_to_it(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = "steps: [{id: each, type: foreach, items: [1], steps: [{type: shell_command, command: exit 2}]}]"
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        over = await flows.over(await flows.run())
        assert over.error.startswith("each.steps[1].0.shell_command failed: exit code 2")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("steps: [{id: it, type: shell_command, command: exit 3}]", "Mend what is wrong, then workflow_resume."),
        ("steps: [{type: user_message, message: '{{ a.b }}'}]", "Start it again."),
        ("steps: [{type: exit, status: failed}]", "Start it again."),
    ],
)
async def test_an_agent_is_told_whether_to_resume_what_has_failed_or_to_start_it_again(
    store: Store, tmp_path: Path, sandbox: Sandbox, text: str, remedy: str
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        assert (await flows.over(id)).status == "failed"
        answer = await flows.call("workflow_get_next_step", {"workflow_id": id})
        assert (answer.is_error, answer.text.endswith(remedy)) == (True, True), answer.text
