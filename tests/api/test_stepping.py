"""One step at a time: what is said to come next is what is taken when somebody lets it, and nothing else."""

from pathlib import Path

import pytest

from moot.api import stepping
from moot.core.caller import SYSTEM
from moot.core.ids import FlowId
from moot.core.tx import ReadTx, Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import flows as rows
from moot.store.sqlite import SqliteStore
from moot.tools import advancing
from tests.flowing import Flows, carried_out

TEXTS = {
    "flow": """
imports: [inner]
default_state: {raw: {n: 0}}
steps:
  - {id: if, type: conditional, condition: "{{ n == 0 }}",
     then: [{id: run, type: shell_command, command: "echo x > ran"}]}
  - {id: twice, type: while, condition: "{{ n < 2 }}",
     body: [{id: up, type: state_update, path: raw.n, operation: increment}]}
  - {id: each, type: foreach, items: [a, b], steps: [{id: run, type: shell_command, command: "echo {{ item }} > ran"}]}
  - {id: tell, type: sequential, steps: [{id: it, type: user_message, message: here}]}
  - {id: other, type: include_workflow, workflow: inner}
  - {id: all, type: parallel_foreach, items: [1], sub_agent_task: it}
  - {id: end, type: exit}
sub_agent_tasks:
  it: {steps: [{id: if, type: conditional, condition: "true", then: [{id: run, type: shell_command, command: "true"}]}]}
""",
    "inner": """
name: inner
steps: [{id: if, type: conditional, condition: "true", then: [{id: run, type: shell_command, command: "echo y > ran"}]}]
""",
}
FORK = "all.parallel_foreach"  # which is done with the last of its tasks


@pytest.fixture
def store(sqlite_store: SqliteStore) -> SqliteStore:
    """What is taken with which commit does not depend on the database."""
    return sqlite_store


async def test_what_is_said_to_come_next_is_exactly_what_is_taken(store: SqliteStore, tmp_path: Path) -> None:
    async with Sandbox().open() as sandbox, carried_out(store, tmp_path, sandbox, TEXTS) as flows:
        id = FlowId(await flows.run(credits=0))
        said, taken = list[str](), list[list[str]]()
        while await _stands(flows, id):
            seen = await store.read(lambda tx: stepping.look(tx, id))
            said.append(await store.read(lambda tx: stepping.ahead(tx, rows.get(tx, id))))
            await store.write(lambda tx: _allow(tx, id), caller=SYSTEM)
            await _stands(flows, id)
            walked = await store.read(lambda tx, seen=seen: stepping.since(tx, seen))
            taken.append([one.step_id for one in walked.steps if one.step_id != FORK])
        assert taken == [[] if one == FORK else [one] for one in said]
        assert said[:3] == ["if.conditional", "if.then.run.shell_command", "if.conditional"]
        assert said[-1] == "end.exit"
        assert (await flows.flow(id)).status == "completed"


async def _stands(flows: Flows, id: FlowId) -> bool:
    """Once nothing more is allowed: whether there is more to do."""

    def look(tx: ReadTx) -> bool | None:
        flow = rows.get(tx, id)
        if not flow.is_live:
            return False
        return True if (flow.waits_for, flow.credits) == ("credit", 0) else None

    return await flows.until(look)


def _allow(tx: Tx, id: FlowId) -> None:
    flow = rows.get(tx, id)
    rows.allow(tx, flow, 1)
    advancing.advance(tx, id, flow.stream)
