"""What goes on side by side shares the state, and keeps its own place in it."""

from collections.abc import Mapping
from typing import cast

from moot.core import clock
from moot.core.caller import SYSTEM
from moot.core.json import Json
from moot.core.records import replace
from moot.core.tx import ReadTx, Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import delta, flows
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.driving import Driver
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import Strand
from moot.engine.state import fields
from moot.engine.step import Outcome
from moot.store.store import Store
from tests.engine.flow.standing import created

LOOPS = """
steps:
  - {id: all, type: parallel_foreach, items: [{id: a, parts: [a1, a2]}, {id: b, parts: [b1, b2]}], sub_agent_task: one}
sub_agent_tasks:
  one:
    steps:
      - id: each
        type: foreach
        items: "{{ parts }}"
        steps:
          - id: ask
            type: agent_prompt
            prompt: "{{ item }}"
            state_update: {path: "raw.said.{{ task_id }}_{{ index }}"}
"""
INCLUDED = """
steps:
  - {id: all, type: parallel_foreach, items: [{id: a}, {id: b}], sub_agent_task: one}
imports: [x.yaml]
sub_agent_tasks:
  one:
    steps:
      - id: x
        type: include_workflow
        workflow: x
        inputs: {of: "{{ task_id }}"}
        state_update: {path: "raw.whole.{{ task_id }}"}
      - {type: state_update, path: "raw.said.{{ task_id }}", value: "{{ both }} {{ x.both }}"}
"""
X = """
inputs: {of: {}}
state_schema: {computed: {both: {from: raw.got, transform: "input + '!'"}}}
steps:
  - {id: ask, type: agent_prompt, prompt: "{{ inputs.of }}", state_update: {path: raw.got}}
  - {id: again, type: agent_prompt, prompt: "{{ got }}/{{ inputs.of }}", state_update: {path: raw.got}}
"""


def placed(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    return replace(strand, status="doing")


async def played(store: Store, sandbox: Sandbox, files: Mapping[str, str]) -> tuple[list[str], dict[str, Json], Live]:
    """Everything that was asked, in turn, each answered with itself; the state at the end."""
    texts = tuple(files.items())
    live = await created(store, texts)
    asked: list[str] = []

    async def commit(change: Delta) -> Live:
        found = await store.write(lambda tx: delta.commit(tx, live, change, placed), caller=SYSTEM)
        assert found is not None
        return found

    while live.flow.is_live:
        driver = Driver(sandbox, clock.to_micros(live.flow.started_at))
        change = await driver.next(live)
        assert live.flow.waits_for == ""  # for nobody but those who have it in hand
        if change is None:
            oldest = min((one for one in live.strands.values() if one.status == "doing"), key=lambda one: one.since)
            assert oldest.work is not None
            asked.append(str(oldest.work.definition["prompt"]))
            change = await driver.finish(live, oldest, Outcome(result=asked[-1]))
        live = await commit(change)

    def look(tx: ReadTx) -> dict[str, str]:
        return flows.fields(tx, live.flow.id)

    assert live.flow.error == ""
    known = await store.read(look)
    assert dict(live.fields) == known
    return asked, cast(dict[str, Json], fields.flat(known)["said"]), live


async def test_tasks_that_go_through_loops_at_once_have_each_its_own_items(store: Store, sandbox: Sandbox) -> None:
    asked, said, _ = await played(store, sandbox, {"w.yaml": LOOPS})
    assert asked == ["a1", "b1", "a2", "b2"]
    assert said == {"a_0": "a1", "a_1": "a2", "b_0": "b1", "b_1": "b2"}


async def test_tasks_that_include_a_workflow_at_once_have_each_its_own_state(store: Store, sandbox: Sandbox) -> None:
    asked, said, live = await played(store, sandbox, {"w.yaml": INCLUDED, "x.yaml": X})
    assert asked == ["a", "b", "a/a", "b/b"]
    assert fields.flat(live.fields)["whole"] == {one: {"got": f"{one}/{one}", "both": f"{one}/{one}!"} for one in "ab"}
    assert said == {"a": "a/a! a/a!", "b": "b/b! b/b!"}


async def test_nothing_is_left_of_what_tasks_have_kept_for_themselves(store: Store, sandbox: Sandbox) -> None:
    for files in ({"w.yaml": LOOPS}, {"w.yaml": INCLUDED, "x.yaml": X}):
        _, _, live = await played(store, sandbox, files)
        assert set(live.fields) <= {"inputs", "raw.said", "raw.whole"}
