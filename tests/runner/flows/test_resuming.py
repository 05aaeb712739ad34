"""A flow that has failed, or whose driver is gone, goes on where it was, as its definition says."""

from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId, InstanceName
from moot.core.tx import Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.files import compiling
from moot.engine.flow import flows as all_flows
from moot.engine.flow import resuming
from moot.registry import agents
from moot.store import sqlite
from moot.store.store import Limits, Store
from moot.tools import advancing
from tests.flowing import carried_out

TEXT = """
default_state: {raw: {log: []}}
%s
steps:
  - {id: first, type: shell_command, command: "echo first >> log"}
  - {id: each, type: foreach, items: [a, b, c], steps: [
      {id: it, type: shell_command, command: "echo {{ item }} >> log; test ! -e broken || test {{ item }} != b"}]}
  - {id: last, type: user_message, message: end}
"""


def _broken(folder: Path) -> Path:
    (folder / "broken").touch()
    return folder / "log"


async def test_a_failed_flow_goes_on_with_the_step_that_failed(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    log = _broken(tmp_path)
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT % ""}) as flows:
        id = await flows.start()
        over = await flows.over(id)
        assert (over.status, over.error.startswith("it failed: ")) == ("failed", True)
        assert await flows.refused("workflow_get_next_step", workflow_id=id) == "WORKFLOW_FAILED"
        (tmp_path / "broken").unlink()
        resumed = await flows.done("workflow_resume", workflow_id=id)
        assert resumed["last_checkpoint"]["step_id"] == "each.steps[2].it.shell_command"
        assert await flows.walk(id) == ["last.user_message"]
        assert log.read_text().split() == ["first", "a", "b", "b", "c"]


@pytest.mark.parametrize(
    ("how", "log"),
    [
        ("{retry_failed_steps: false}", ["first", "a", "b", "c"]),
        ("{skip_completed_steps: false}", ["first", "a", "b", "first", "a", "b", "c"]),
    ],
)
async def test_the_definition_says_where_it_goes_on(
    store: Store, tmp_path: Path, sandbox: Sandbox, how: str, log: list[str]
) -> None:
    written = _broken(tmp_path)
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT % f"on_resume: {how}"}) as flows:
        id = await flows.start()
        await flows.over(id)
        (tmp_path / "broken").unlink()
        await flows.done("workflow_resume", workflow_id=id)
        assert await flows.walk(id) == ["last.user_message"]
        assert written.read_text().split() == log


async def test_what_failed_in_its_cleanup_goes_on_at_the_step_before(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    how = """
error_handling:
  on_failure:
    - {id: each, type: foreach, items: [x, y], steps: [{type: shell_command, command: "echo {{ item }} >> log"}]}
"""
    log = _broken(tmp_path)
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT % how}) as flows:
        id = await flows.start()
        assert (await flows.over(id)).status == "failed"
        (tmp_path / "broken").unlink()
        await flows.done("workflow_resume", workflow_id=id)
        assert await flows.walk(id) == ["last.user_message"]
        assert log.read_text().split() == ["first", "a", "b", "x", "y", "b", "c"]


async def test_a_flow_that_could_not_begin_tries_that_again_when_it_is_resumed(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
state_schema: {computed: {twice: {from: raw.n, transform: "if (now > 5) return input * 2; throw new Error('early')"}}}
default_state: {raw: {n: "{{ inputs.n }}", now: "{{ inputs.n }}"}}
inputs: {n: {type: number, default: 1}}
steps: [{id: it, type: user_message, message: "{{ twice }}"}]
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        assert await flows.refused("workflow_start", workflow="flow") == "WORKFLOW_FAILED"
        (found,) = await store.read(lambda tx: all_flows.all_of(tx, InstanceName("default")))
        assert await flows.fields(found.id) == {}
        await flows.done("workflow_resume", workflow_id=found.id)
        assert await flows.refused("workflow_get_next_step", workflow_id=found.id) == "WORKFLOW_FAILED"
        assert "early" in (await flows.over(found.id)).error
        id = await flows.start(n=7)
        assert (await flows.next(id))["step"]["definition"] == {"message": "14"}


async def test_another_takes_over_what_its_driver_has_left(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT % ""}) as flows:
        ann, ben = await flows.caller("ann"), await flows.caller("ben")
        id = await flows.start(by=ann)
        await flows.next(id, ann)
        assert await flows.refused("workflow_resume", ben, workflow_id=id) == "NOT_ALLOWED"

        def leave(tx: Tx) -> None:
            assert ann.agent is not None
            agents.unregister(tx, ann.agent)

        await store.write(leave, caller=SYSTEM)
        await flows.done("workflow_resume", ben, workflow_id=id)
        assert await flows.walk(id, ben) == ["last.user_message"]


async def test_a_checkpoint_keeps_the_state_as_it_was(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT % ""}) as flows:
        id = await flows.start()
        await flows.next(id)
        kept = await flows.done("workflow_checkpoint", workflow_id=id, step_id="last", reason="much context")
        updates = [{"path": "raw.log", "operation": "append", "value": None}]
        await flows.done("workflow_state_update", workflow_id=id, updates=updates)
        assert await flows.state(id) == {"log": [None]}
        then = await flows.done("workflow_state_read", workflow_id=id, checkpoint_id=kept["checkpoint_id"])
        assert then["state"] == {"log": []}
        code = await flows.refused("workflow_state_read", workflow_id=id, checkpoint_id="ck_none")
        assert code == "CHECKPOINT_NOT_FOUND"


DETACHED = """
default_state: {raw: {log: []}}
steps:
  - {id: all, type: parallel_foreach, items: [a, b], sub_agent_task: it, wait_for_all: false}
  - {id: told, type: user_message, message: end}
sub_agent_tasks:
  it: {steps: [{id: do, type: agent_shell_command, command: "do {{ item }}", state_update: {path: "raw.{{ item }}"}}]}
"""


async def test_tasks_that_nobody_waits_for_are_tried_again_if_they_had_failed(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": DETACHED}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.complete(id, "all.parallel_foreach")
        await flows.walk(id, task="all_0", do=1)
        await flows.next(id, task="all_1")
        await flows.complete(id, "do.agent_shell_command", task="all_1", status="failed", error="no")
        assert (await flows.over(id)).status == "failed"
        await flows.done("workflow_resume", workflow_id=id)
        await flows.walk(id, task="all_1", do=2)
        assert await flows.walk(id) == ["told.user_message"]
        assert (await flows.over(id)).status == "completed"
        assert await flows.state(id) == {"log": [], "a": 1, "b": 2}


TASKS = """
name: fans
default_state: {raw: {n: 0}}
%s
steps: [{id: fan, type: parallel_foreach, items: [a, b], max_parallel: 1, sub_agent_task: t}]
sub_agent_tasks:
  t:
    steps:
      - {id: count, type: state_update, path: raw.n, operation: increment}
      - {id: it, type: shell_command, command: "echo {{ item }} >> log; test ! -e broken || test {{ item }} != b"}
"""
FOLLOWS = "error_handling: {on_failure: [{type: shell_command, command: 'echo {{ error.step_id }} >> told'}]}"
INCLUDES = "imports: [fans]\nsteps: [{id: inside, type: include_workflow, workflow: fans}]\n"


@pytest.mark.parametrize(
    ("texts", "key", "told"),
    [
        ({"flow": TASKS % ""}, "", 0),
        ({"flow": TASKS % FOLLOWS}, "", 1),
        ({"flow": INCLUDES, "fans": TASKS % ""}, "in.inside/", 0),
        ({"flow": INCLUDES + FOLLOWS, "fans": TASKS % FOLLOWS}, "in.inside/", 2),
    ],
)
async def test_of_tasks_that_were_waited_for_only_those_are_tried_again_that_are_not_done(
    store: Store, tmp_path: Path, sandbox: Sandbox, texts: dict[str, str], key: str, told: int
) -> None:
    log = _broken(tmp_path)
    async with carried_out(store, tmp_path, sandbox, texts) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "failed"
        (tmp_path / "broken").unlink()
        await store.write(lambda tx: _resume(tx, id), caller=SYSTEM)
        assert (await flows.over(id)).status == "completed"
        assert log.read_text().split() == ["a", "b", "b"]
        assert (await flows.fields(id))[f"{key}raw.n"] == "3"
        assert len((tmp_path / "told").read_text().split() if told else "") == told


async def test_an_agent_is_given_the_tasks_again_that_are_not_done_after_what_followed_the_failure(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
default_state: {raw: {}}
error_handling: {on_failure: [{id: sorry, type: user_message, message: "{{ error.message }}"}]}
steps: [{id: fan, type: parallel_foreach, items: [a, b], sub_agent_task: t}]
sub_agent_tasks: {t: {steps: [{id: do, type: agent_prompt, prompt: do, state_update: {path: "raw.{{ item }}"}}]}}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        await flows.next(id)
        await flows.walk(id, task="fan_0", do=1)
        await flows.next(id, task="fan_1")
        await flows.complete(id, "do.agent_prompt", task="fan_1", status="failed", error="no")
        await flows.next(id, task="fan_1")
        await flows.complete(id, "do.agent_prompt", task="fan_1", status="failed", error="no")
        await flows.next(id, task="fan_1")
        await flows.complete(id, "do.agent_prompt", task="fan_1", status="failed", error="never")
        await flows.complete(id, "fan.parallel_foreach")
        assert (await flows.next(id))["step"]["id"] == "failure.sorry.user_message"
        await flows.complete(id, "failure.sorry.user_message")
        assert (await flows.over(id)).status == "failed"
        await flows.done("workflow_resume", workflow_id=id)
        step = (await flows.next(id))["step"]
        assert (step["id"], len(step["definition"]["tasks"])) == ("fan.parallel_foreach", 2)
        assert (await flows.next(id, task="fan_0"))["step"] is None
        assert await flows.walk(id, task="fan_1", do=2) == ["do.agent_prompt"]
        assert await flows.walk(id) == ["fan.parallel_foreach"]
        assert await flows.state(id) == {"a": 1, "b": 2}


def _resume(tx: Tx, id: str) -> None:
    flow = all_flows.get(tx, FlowId(id))
    assert resuming.resume(tx, flow, compiling.compiled(all_flows.files(tx, flow.id)))
    advancing.advance(tx, flow.id, flow.stream)


async def test_a_long_definition_is_read_before_the_store_is_held_to_resume_it(
    tmp_path: Path, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    many = "\n".join(f"  - {{type: state_update, path: raw.x, value: '{{{{ {at} }}}}'}}" for at in range(2000))
    text = f"steps:\n  - {{id: first, type: shell_command, command: test -e there}}\n  - {{type: exit}}\n{many}\n"
    store = sqlite.open_file(tmp_path / "own" / "moot.db", create=True, limits=Limits(slow_seconds=0.1))
    async with carried_out(store, tmp_path, sandbox, {"flow": text}) as flows:
        id = await flows.start()
        assert (await flows.over(id)).status == "failed"
        (tmp_path / "there").touch()
        compiling.compiled.cache_clear()  # as for a host that has never seen it
        await flows.done("workflow_resume", workflow_id=id)
        assert (await flows.over(id)).status == "completed"
    await store.close()
    assert [one.message for one in caplog.records if "held the writer" in one.message] == []
