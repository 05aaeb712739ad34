"""A flow as whoever has it in hand sees it, and one step of it: what is to be committed with it, and when it is not."""

from datetime import datetime

from moot.core import clock
from moot.core.ids import FlowId
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.engine.definition import Definition
from moot.engine.flow import delta, flows, inbox
from moot.engine.flow.delta import Delta, Live, Place
from moot.engine.flow.flows import Flow
from moot.engine.flow.inbox import Submission
from moot.engine.flow.strands import Strand
from moot.runner.flows import placing, section
from moot.tools import advancing


@record
class Found:
    """A flow, and what there is to go on from."""

    live: Live
    waiting: tuple[Submission, ...]
    micros: int  # when that was
    is_held: bool = False

    @property
    def now(self) -> datetime:
        return clock.from_micros(self.micros)


def look(tx: ReadTx, id: FlowId, definition: Definition, known: Live | None) -> Found:
    """What is known already counts if it is the newest."""
    is_newest = known is not None and flows.version(tx, id) == known.flow.version
    live = known if known is not None and is_newest else delta.load(tx, id, definition)
    return Found(live, tuple(inbox.waiting(tx, id)), tx.micros, section.is_held(tx, live.flow))


def commit(tx: Tx, live: Live, change: Delta, place: Place, *, is_quiet: bool = False) -> Found | None:
    """With all that is said and withdrawn by it; None if somebody else has changed the flow since."""
    found = delta.commit(tx, live, change, place, is_quiet=is_quiet)
    if found is None:
        return None
    for text in change.says:
        placing.say(tx, live.flow, text)
    for one in change.strands:
        before, after = live.strands.get(one.number), found.strands.get(one.number)
        if before is not None and before.waits_on is not None and (after is None or after.waits_on != before.waits_on):
            advancing.withdraw(tx, live.flow, before)
    return Found(found, (), tx.micros)


def step(tx: Tx, live: Live, change: Delta, place: Place, *, is_quiet: bool = False) -> Found | None:
    """The same, unless somebody would be asked or told something and the run is not to go on. Whoever ends a run locks
    its instance, too: afterwards nobody is asked. So does whoever tells steps of the end of what they wait for: either
    it finds the step, or the step finds the end."""
    given = [one.work for one in change.strands if one.status == "given"]
    is_moots = live.flow.driver == "moot" and bool(change.says or given)
    if is_moots or any(one is not None and one.type == "wait" for one in given):
        tx.lock("instances", live.flow.instance)
    if is_moots and section.is_held(tx, live.flow):
        return None
    return commit(tx, live, change, place, is_quiet=is_quiet)


def later(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    """What is to be done once more waits until the run goes on."""
    return replace(strand, status="waiting", wakes_at=tx.now)
