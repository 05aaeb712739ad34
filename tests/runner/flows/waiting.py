"""Flows that come to a step which waits for the end of something, one commit at a time."""

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId
from moot.core.tx import ReadTx, Tx
from moot.engine.definition import Definition
from moot.engine.files import compiling
from moot.engine.flow import delta, flows
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.driving import Driver
from moot.runner.flows import stepping
from moot.runner.flows.placing import Placing
from tests.flowing import Flows

WAIT = """
inputs: {id: {type: string}}
steps: [{id: it, type: wait, %s: "{{ inputs.id }}"}]
"""


async def about_to_wait(found: Flows, id: FlowId) -> tuple[Live, Delta]:
    """A flow that nobody has in hand, and the change by which it begins to wait."""
    definition = compiling.compiled(await found.store.read(lambda tx: flows.files(tx, id)))
    while True:
        live, change = await _next(found, id, definition)
        if any(one.status == "given" for one in change.strands):
            return live, change
        await found.store.write(lambda tx, live=live, change=change: step(tx, found, live, change), caller=SYSTEM)


async def _next(found: Flows, id: FlowId, definition: Definition) -> tuple[Live, Delta]:
    def look(tx: ReadTx) -> tuple[Live, Driver]:
        return delta.load(tx, id, definition), Driver(found.evaluator, tx.micros)

    live, driver = await found.store.read(look)
    change = await driver.next(live)
    assert change is not None
    return live, change


def step(tx: Tx, found: Flows, live: Live, change: Delta) -> bool:
    """Commit it; whether that was done."""
    return stepping.step(tx, live, change, Placing(found.deeds.can_call, found.deeds.place)) is not None
