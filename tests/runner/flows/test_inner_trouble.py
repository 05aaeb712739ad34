"""A step of an included workflow has failed: that workflow takes care of it, or whoever includes it has to."""

from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId
from moot.core.tx import Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.files import compiling
from moot.engine.flow import flows as all_flows
from moot.engine.flow import resuming
from moot.store.store import Store
from moot.tools import advancing
from tests.flowing import Flows, carried_out

# `run` writes into the log what it is given, and fails as long as there is a file `broken`.
INNER = """
name: inner
inputs: {who: {type: string, default: x}}
default_state: {raw: {log: [], errors: [], n: 0}}
state_schema: {computed: {count: {from: raw.log, transform: input.length}}}
%s
steps:
  - {id: one, type: shell_command, command: "echo {{ inputs.who }}1 >> log",
     state_update: {path: raw.log, operation: append, value: one}}
  - {id: bad, type: shell_command, command: "echo {{ inputs.who }}2 >> log; test ! -e broken"}
  - {id: three, type: shell_command, command: "echo {{ inputs.who }}3 >> log",
     state_update: {path: raw.log, operation: append, value: three}}
"""
OUTER = """
imports: [inner]
default_state: {raw: {errors: [], after: false}}
%s
steps:
  - {id: before, type: shell_command, command: "echo before >> log"}
  - {id: inside, type: include_workflow, workflow: inner, inputs: {who: w}}
  - {id: after, type: shell_command, command: "echo after >> log"}
"""


def _texts(inner: str = "", outer: str = "") -> dict[str, str]:
    return {"flow": OUTER % outer, "inner": INNER % inner}


def _broken(folder: Path) -> Path:
    (folder / "broken").touch()
    return folder / "log"


async def _resumed(flows: Flows, id: str) -> None:
    def change(tx: Tx) -> None:
        flow = all_flows.get(tx, FlowId(id))
        assert resuming.resume(tx, flow, compiling.compiled(all_flows.files(tx, flow.id)))
        advancing.advance(tx, flow.id, flow.stream)

    await flows.store.write(change, caller=SYSTEM)


async def test_an_included_workflow_may_go_on_behind_what_has_failed_and_keep_the_error_to_itself(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    log = _broken(tmp_path)
    how = """
error_handling:
  on_error: continue
  error_collection: {state_path: raw.errors, include_stack_traces: true}
"""
    both = "error_handling: {error_collection: {state_path: raw.errors}}"
    async with carried_out(store, tmp_path, sandbox, _texts(how, both)) as flows:
        id = await flows.run()
        over = await flows.over(id)
        assert (over.status, over.error) == ("completed", "")
        assert log.read_text().split() == ["before", "w1", "w2", "w3", "after"]
        found = await flows.flat(id)
        assert (found["errors"], found["after"], len(found["inside"]["errors"])) == ([], False, 1)
        kept = (await flows.fields(id))["in.inside/raw.errors"]
        assert '"step_id":"inside.workflow.bad.shell_command"' in kept.replace(" ", "")
        assert "inside (include_workflow, line 7)" in kept
        assert "bad (shell_command, line 14)" in kept


async def test_an_included_workflow_may_begin_anew_by_itself_with_what_it_was_given(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    log = _broken(tmp_path)
    how = "error_handling: {on_error: retry_workflow, max_retries: 2}"
    async with carried_out(store, tmp_path, sandbox, _texts(how)) as flows:
        id = await flows.run()
        over = await flows.over(id)
        assert (over.status, over.retries) == ("failed", 0)
        assert log.read_text().split() == ["before", *(["w1", "w2"] * 3)]
        assert (await flows.fields(id))["in.inside/raw.log"] == '["one"]'
        (tmp_path / "broken").unlink()
        await _resumed(flows, id)
        assert (await flows.over(id)).status == "completed"
        assert log.read_text().split()[-3:] == ["w2", "w3", "after"]


async def test_each_round_of_a_loop_may_begin_anew_as_often(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    log = _broken(tmp_path)
    outer = """
imports: [inner]
error_handling: {on_error: continue}
steps:
  - id: each
    type: foreach
    items: [a, b]
    steps: [{id: inside, type: include_workflow, workflow: inner, inputs: {who: "{{ item }}"}}]
"""
    inner = INNER % "error_handling: {on_error: retry_workflow, max_retries: 1}"
    async with carried_out(store, tmp_path, sandbox, {"flow": outer, "inner": inner}) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        assert log.read_text().split() == ["a1", "a2"] * 2 + ["b1", "b2"] * 2


FOLLOWS = """
error_handling:
  error_collection: {state_path: raw.errors}
  on_failure:
    - {id: tell, type: shell_command, command: "echo {{ inputs.who }}: {{ error.step_id }} {{ count }} >> log"}
    - {id: note, type: state_update, path: raw.n, value: "{{ errors.length }}"}
"""


async def test_what_follows_a_failure_in_an_included_workflow_comes_before_that_of_the_outer(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    log = _broken(tmp_path)
    outer = """
error_handling:
  error_collection: {state_path: raw.errors}
  on_failure: [{id: end, type: shell_command, command: "echo outer: {{ error.step_id }} {{ errors.length }} >> log"}]
"""
    async with carried_out(store, tmp_path, sandbox, _texts(FOLLOWS, outer)) as flows:
        id = await flows.run()
        over = await flows.over(id)
        assert over.status == "failed"
        assert over.error.startswith("bad failed: exit code 1")
        assert log.read_text().splitlines() == [
            "before",
            "w1",
            "w2",
            "w: inside.workflow.bad.shell_command 1",
            "outer: inside.workflow.bad.shell_command 1",
        ]
        steps = await flows.steps(id)
        assert steps[3:7] == [
            "inside.workflow.bad.shell_command failed",
            "inside.on_failure.tell.shell_command success",
            "inside.on_failure.note.state_update success",
            "inside.include_workflow failed",
        ]
        assert (await flows.fields(id))["in.inside/raw.n"] == "1"
        (tmp_path / "broken").unlink()
        await _resumed(flows, id)
        assert (await flows.over(id)).status == "completed"
        assert log.read_text().split()[-3:] == ["w2", "w3", "after"]


async def test_where_what_follows_a_failure_fails_itself_the_first_failure_counts(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    _broken(tmp_path)
    how = 'error_handling: {on_failure: [{id: worse, type: shell_command, command: "exit 7"}]}'
    async with carried_out(store, tmp_path, sandbox, _texts(how)) as flows:
        id = await flows.run()
        assert (await flows.over(id)).error.startswith("bad failed: exit code 1")
        assert "in.inside/failed" not in await flows.fields(id)


async def test_the_outer_workflow_goes_on_behind_the_step_that_includes_what_has_failed(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    log = _broken(tmp_path)
    outer = "error_handling: {on_error: continue, error_collection: {state_path: raw.errors}}"
    async with carried_out(store, tmp_path, sandbox, _texts("", outer)) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        assert log.read_text().split() == ["before", "w1", "w2", "after"]
        (error,) = (await flows.flat(id))["errors"]
        assert error["step_id"] == "inside.workflow.bad.shell_command"


@pytest.mark.parametrize(
    ("says", "log"),
    [
        (("", ""), ["w2", "w3", "after"]),
        (("", "on_resume: {retry_failed_steps: false}"), ["w3", "after"]),
        (("on_resume: {retry_failed_steps: false}", ""), ["w3", "after"]),
        (("on_resume: {retry_failed_steps: false}", "on_resume: {}"), ["w2", "w3", "after"]),
        (("", "on_resume: {skip_completed_steps: false}"), ["w1", "w2", "w3", "after"]),
        (("on_resume: {skip_completed_steps: false}", "on_resume: {}"), ["before", "w1", "w2", "w3", "after"]),
    ],
)
@pytest.mark.parametrize("follows", ["", FOLLOWS])
async def test_an_included_workflow_says_how_it_goes_on_or_else_the_outer_one(
    store: Store, tmp_path: Path, sandbox: Sandbox, says: tuple[str, str], log: list[str], follows: str
) -> None:
    outer, inner = says
    written = _broken(tmp_path)
    async with carried_out(store, tmp_path, sandbox, _texts(inner + follows, outer)) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "failed"
        (tmp_path / "broken").unlink()
        written.unlink()
        await _resumed(flows, id)
        assert (await flows.over(id)).status == "completed"
        assert written.read_text().split() == log


@pytest.mark.parametrize(("resets", "runs"), [("", 1), (", reset_error_counts: true", 3)])
async def test_how_often_it_has_begun_anew_is_counted_anew_if_that_is_said(
    store: Store, tmp_path: Path, sandbox: Sandbox, resets: str, runs: int
) -> None:
    how = f"""
error_handling: {{on_error: retry_workflow, max_retries: 2}}
on_resume: {{retry_failed_steps: true{resets}}}
"""
    log = _broken(tmp_path)
    async with carried_out(store, tmp_path, sandbox, _texts(how)) as flows:
        id = await flows.run()
        await flows.over(id)
        log.unlink()
        await _resumed(flows, id)
        await flows.over(id)
        assert log.read_text().split().count("w2") == runs


EXIT = """
name: inner
default_state: {raw: {n: 1}}
state_schema: {computed: {twice: {from: raw.n, transform: input * 2}}}
error_handling: {on_failure: [{id: never, type: shell_command, command: "echo never >> log"}]}
steps:
  - {id: leave, type: foreach, items: [1], steps: [{type: exit, %s}]}
  - {id: never, type: shell_command, command: "echo never >> log"}
"""


@pytest.mark.parametrize(
    ("said", "status", "error"),
    [
        ("reason: enough", "completed", ""),
        ('status: failed, reason: "{{ twice }} is too much"', "failed", "2 is too much."),
        ("status: failed", "failed", "inner has ended as failed."),
    ],
)
async def test_exit_ends_the_included_workflow_and_not_the_outer_one(
    store: Store, tmp_path: Path, sandbox: Sandbox, said: str, status: str, error: str
) -> None:
    outer = """
imports: [inner]
steps:
  - {id: inside, type: include_workflow, workflow: inner}
  - {id: after, type: shell_command, command: "echo {{ inside.twice }} >> log"}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": outer, "inner": EXIT % said}) as flows:
        over = await flows.over(await flows.run())
        assert (over.status, over.error) == (status, error)
        assert (tmp_path / "log").exists() == (status == "completed")


async def test_in_a_task_an_included_workflow_takes_care_of_its_own_failures(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    outer = """
imports: [inner]
default_state: {raw: {seen: {}}}
steps: [{id: all, type: parallel_foreach, items: [p, q], sub_agent_task: it}]
sub_agent_tasks:
  it:
    error_handling:
      cleanup_on_error: [{type: state_update, path: "raw.seen.{{ item }}", value: "{{ error.message }}"}]
    steps: [{id: inside, type: include_workflow, workflow: inner, inputs: {who: "{{ item }}"}}]
"""
    names = "echo {{ inputs.who }}: {{ error.step_id }} {{ typeof item }} >> log"
    inner = INNER % f'error_handling: {{on_failure: [{{type: shell_command, command: "{names}"}}]}}'
    log = _broken(tmp_path)
    async with carried_out(store, tmp_path, sandbox, {"flow": outer, "inner": inner}) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "failed"
        told = [line for line in log.read_text().splitlines() if ":" in line]
        assert told  # the first to fail ends the other, which may have said so before it
        assert all(line[1:] == ": inside.workflow.bad.shell_command undefined" for line in told)
        seen = (await flows.flat(id))["seen"]
        assert seen.keys() <= {line[0] for line in told}
        assert {str(one)[:24] for one in seen.values()} == {"bad failed: exit code 1."}


async def test_an_agent_is_given_what_follows_a_failure_in_an_included_workflow(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    _broken(tmp_path)
    how = """
error_handling:
  on_failure:
    - {id: tell, type: user_message, message: "{{ error.message }}"}
    - {id: count, type: state_update, path: raw.n, operation: increment}
"""
    async with carried_out(store, tmp_path, sandbox, _texts(how)) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]
        assert (step["id"], step["definition"]) == (
            "inside.on_failure.tell.user_message",
            {"message": "bad failed: exit code 1."},
        )
        await flows.complete(id, step["id"])
        update = (await flows.next(id))["step"]
        assert update["id"] == "inside.on_failure.count.state_update"
        await flows.done("workflow_state_update", workflow_id=id, updates=update["definition"]["updates"])
        await flows.complete(id, update["id"])
        assert await flows.refused("workflow_get_next_step", workflow_id=id) == "WORKFLOW_FAILED"
        assert (await flows.fields(id))["in.inside/raw.n"] == "1"
