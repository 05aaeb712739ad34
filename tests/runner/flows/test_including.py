"""Included workflows: their state is their own, whoever changes it and however many go on side by side."""

from pathlib import Path

from moot.engine.expressions.sandbox import Sandbox
from moot.store.store import Store
from tests.flowing import carried_out

CHECKS = """
name: checks
inputs: {files: {type: array, required: true}}
default_state: {raw: {errors: {}, rounds: 0}}
state_schema:
  computed:
    total: {from: raw.errors, transform: "Object.values(input).reduce((a, b) => a + b, 0)"}
steps:
  - id: each
    type: foreach
    items: "{{ inputs.files }}"
    steps:
      - {id: look, type: agent_shell_command, command: "lint {{ item }}", output_format: json,
         state_update: {path: "raw.errors.{{ item }}"}}
  - {id: round, type: state_update, path: raw.rounds, operation: increment}
"""
TWICE = """
imports: [checks]
default_state: {raw: {errors: none, rounds: 7}}
steps:
  - {id: before, type: include_workflow, workflow: checks, inputs: {files: [a, b.ts]}}
  - {id: after, type: include_workflow, workflow: checks, inputs: {files: [a]}}
  - {id: told, type: user_message, message: "{{ before.total }} then {{ after.total }}, last {{ total }}"}
"""


async def test_what_an_agent_writes_in_an_included_workflow_goes_to_the_state_of_that(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": TWICE, "checks": CHECKS}) as flows:
        id = await flows.start()
        step = (await flows.next(id))["step"]
        assert step["id"] == "before.workflow.each.steps[1].look.agent_shell_command"
        assert await flows.refused("workflow_step_complete", workflow_id=id, step_id=step["id"]) == "RESULT_MISSING"
        made = await flows.done("workflow_state_update", workflow_id=id, updates=[{"path": "raw.errors.a", "value": 2}])
        assert made["computed"] == {"total": 2}
        assert await flows.state(id) == {"errors": {"a": 2}, "rounds": 0, "total": 2}  # as it was written
        others = await flows.done("workflow_state_read", await flows.caller("ann"), workflow_id=id)
        assert others["state"] == {"errors": "none", "rounds": 7}
        await flows.complete(id, step["id"])
        await flows.complete(id, (await flows.next(id))["step"]["id"], result=3)
        update = (await flows.next(id))["step"]
        assert update["definition"]["updates"] == [{"path": "raw.rounds", "operation": "increment", "value": 1}]
        await flows.done("workflow_state_update", workflow_id=id, updates=update["definition"]["updates"])
        await flows.complete(id, update["id"])
        await flows.complete(id, (await flows.next(id))["step"]["id"], result=1)
        await flows.complete(id, (await flows.next(id))["step"]["id"])
        assert (await flows.next(id))["step"]["definition"] == {"message": "5 then 1, last 1"}
        before = {"total": 5, "errors": {"a": 2, "b.ts": 3}, "rounds": 1}
        after = {"total": 1, "errors": {"a": 1}, "rounds": 1}
        assert await flows.state(id) == {"errors": "none", "rounds": 7, "before": before, "after": after, "total": 1}
        found = await flows.fields(id)
        assert (found["in.before/raw.rounds"], found["in.after/raw.rounds"]) == ("1", "1")


async def test_an_included_workflow_that_asks_for_nothing_takes_what_it_is_given(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    texts = {
        "flow": "imports: [it]\nsteps: [{id: in, type: include_workflow, workflow: it, inputs: {files: [a, b]}}]",
        "it": "name: it\nsteps: [{type: foreach, items: '{{ inputs.files }}', steps: [{type: user_message, "
        "message: '{{ item }} of {{ inputs.files.length }}'}]}]",
    }
    async with carried_out(store, tmp_path, sandbox, texts) as flows:
        id = await flows.start()
        assert (await flows.next(id))["step"]["definition"] == {"message": "a of 2"}


NESTED = {
    "flow": "imports: [outer]\nsteps:\n  - {id: both, type: include_workflow, workflow: outer}",
    "outer": """
name: outer
imports: [one]
state_schema: {computed: {twice: {from: raw.n, transform: input * 2}}}
steps:
  - {id: first, type: include_workflow, workflow: one, inputs: {n: 1}}
  - {id: second, type: include_workflow, workflow: one, inputs: {n: 2}}
  - {type: state_update, path: raw.n, value: "{{ second.more }}"}
""",
    "one": """
name: one
inputs: {n: {type: number}}
default_state: {raw: {n: "{{ inputs.n }}"}}
state_schema: {computed: {more: {from: raw.n, transform: input + 10}}}
steps: [{type: sequential, steps: []}]
""",
}


async def test_what_an_included_workflow_includes_is_known_under_its_name(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, NESTED) as flows:
        id = await flows.start()
        assert await flows.walk(id) == ["both.workflow.2.state_update"]
        one, two = {"n": 1, "more": 11}, {"n": 2, "more": 12}
        both = {"n": 12, "twice": 24, "first": one, "second": two, "more": 12}
        assert await flows.state(id) == {"twice": 24, "both": both}


TASKS = """
imports: [checks]
default_state: {raw: {score: {}}}
steps:
  - {id: all, type: parallel_foreach, items: [{id: x, files: [a]}, {id: y, files: [b, c]}], sub_agent_task: batch}
  - {id: told, type: user_message, message: "{{ typeof total === 'undefined' ? 'apart' : total }}"}
sub_agent_tasks:
  batch:
    steps:
      - {id: checks, type: include_workflow, workflow: checks, inputs: {files: "{{ files }}"}}
      - {id: keep, type: state_update, path: "raw.score.{{ id }}", value: "{{ checks.total }}"}
"""


async def test_tasks_that_include_the_same_workflow_do_not_see_each_others_state(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": TASKS, "checks": CHECKS}) as flows:
        id = await flows.start()
        await flows.next(id)
        x, y = (await flows.next(id, task="x"))["step"], (await flows.next(id, task="y"))["step"]
        assert (x["definition"]["command"], y["definition"]["command"]) == ("lint a", "lint b")
        await flows.complete(id, x["id"], task="x", result=1)
        await flows.complete(id, y["id"], task="y", result=10)
        await flows.walk(id, task="x", checks=0)
        await flows.walk(id, task="y", checks=20)
        assert await flows.walk(id) == ["all.parallel_foreach", "told.user_message"]
        assert await flows.state(id) == {"score": {"x": 1, "y": 30}}
        assert not [key for key in await flows.fields(id) if "@" in key]


INNER = """
name: inner
inputs: {names: {type: array}}
default_state: {raw: {done: []}}
state_schema: {computed: {count: {from: raw.done, transform: input.length}}}
steps:
  - id: rounds
    type: foreach
    items: [1, 2]
    steps:
      - {id: all, type: parallel_foreach, items: "{{ inputs.names }}", sub_agent_task: one}
sub_agent_tasks:
  one:
    error_handling:
      cleanup_on_error: [{id: sorry, type: state_update, path: raw.done, operation: append, value: "no {{ item }}"}]
    steps:
      - id: twice
        type: foreach
        items: ["{{ item }}", "{{ item }}{{ inputs.names.length }}"]
        steps:
          - {id: run, type: shell_command, command: "echo {{ item }} >> ran; test {{ item }} != bad",
             state_update: {path: raw.done, operation: append, value: "{{ item }}"}}
"""
OUTER = """
imports: [inner]
default_state: {raw: {done: outside}}
steps:
  - {id: inside, type: include_workflow, workflow: inner, inputs: {names: %s}}
  - {id: keep, type: state_update, path: raw.count, value: "{{ inside.count }}"}
"""


async def test_tasks_of_an_included_workflow_work_on_its_state(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    texts = {"flow": OUTER % "[p, q]", "inner": INNER}
    async with carried_out(store, tmp_path, sandbox, texts) as flows:
        id = await flows.run()
        over = await flows.over(id)
        assert (over.status, over.error) == ("completed", "")
        found = await flows.flat(id)
        found["inside"]["done"].sort()
        done = sorted(["p", "p2", "q", "q2"] * 2)
        assert found == {"done": "outside", "count": 8, "inside": {"done": done, "count": 8}}
        assert sorted((tmp_path / "ran").read_text().split()) == sorted(["p", "p2", "q", "q2"] * 2)


async def test_a_failed_task_of_an_included_workflow_cleans_up_there(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    texts = {"flow": OUTER % "[bad]", "inner": INNER}
    async with carried_out(store, tmp_path, sandbox, texts) as flows:
        id = await flows.run()
        assert "all_0: run failed" in (await flows.over(id)).error
        assert await flows.flat(id) == {"done": "outside"}
        assert (await flows.fields(id))["in.inside/raw.done"] == '["no bad"]'


async def test_what_an_included_workflow_knows_outlives_its_tasks_whatever_it_is_called(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    inner = """
name: inner
steps:
  - {type: state_update, path: 'raw["ann@2.org"]', value: 7}
  - {id: all, type: parallel_foreach, items: [1, 2, 3], sub_agent_task: each}
sub_agent_tasks:
  each: {steps: [{type: state_update, path: raw.done, operation: append, value: "{{ item }}"}]}
"""
    outer = """
imports: [inner]
steps: [{id: in, type: include_workflow, workflow: inner, state_update: {path: raw.all}}]
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": outer, "inner": inner}) as flows:
        id = await flows.run()
        await flows.over(id)
        assert (await flows.flat(id))["all"] == {"ann@2.org": 7, "done": [1, 2, 3]}
