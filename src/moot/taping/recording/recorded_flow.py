"""A flow whose way is written down, commit by commit."""

from collections.abc import Callable

from moot.core.clock import Clock, SystemClock
from moot.core.ids import FlowId
from moot.core.records import replace
from moot.core.tx import ReadTx, Tx
from moot.engine.expressions import moments
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.expressions.moments import AtMoment, Momentary
from moot.engine.flow import flows
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.flows import Flow
from moot.engine.flow.inbox import Submission
from moot.runner.flows.cues import Came, Cue, Done, Due, Onward, Position
from moot.store import feed
from moot.store.store import Store
from moot.taping import flow_chronicle
from moot.taping.flow_lines import Moved, Started, Stood, Worked
from moot.taping.tape import Line


class RecordedFlows:
    """Those of one run, in the order in which they were begun."""

    def __init__(self, write: Callable[[Line], None], clock: Clock | None = None) -> None:
        self.write = write
        self.clock = clock or SystemClock()
        self._known: list[FlowId] = []

    async def begun(self, store: Store, flow: Flow) -> None:
        if flow.id in self._known:
            return
        self._known.append(flow.id)
        files = await store.read(lambda tx: flows.files(tx, flow.id))
        self.write(Started(flow.id, flow.name, flow.driver, flow.given, files))

    def stood(self, tx: ReadTx) -> list[Stood]:
        """All of them, as they are now."""
        return [flow_chronicle.stood(tx, flows.get(tx, id)) for id in self._known]


class RecordedFlow:
    """A `Guide` that leaves the flow its way, while it is in the hands of this process."""

    is_asked = True

    def __init__(self, flow: Flow, evaluator: Momentary, store: Store, known: RecordedFlows) -> None:
        self._flow = flow
        self._momentary = evaluator
        self._store = store
        self._known = known
        self._cue: Cue = Onward()
        self._moment = moments.new(known.clock)
        self.evaluator: Evaluator = AtMoment(evaluator, self._moment)

    async def choose(self, live: Live, waiting: tuple[Submission, ...], own: Cue | None) -> Cue | None:
        await self._known.begun(self._store, self._flow)
        if own is not None:
            self._cue = own
            self._moment = moments.new(self._known.clock)
            self.evaluator = AtMoment(self._momentary, self._moment)
        return own

    def nothing_came(self) -> None:
        pass

    def position(self, tx: Tx, flow: Flow) -> Position | None:
        return Position(tx.new_id("mv"), feed.end(tx, flow.stream)[flow.stream], tx.appended)

    def committed(self, before: Live, change: Delta, after: Live, position: Position | None) -> None:
        assert position is not None
        moved = Moved(
            flow=self._flow.id,
            id=position.id,
            seq=position.seq,
            events=tuple(seq for stream, seq in position.events if stream == self._flow.stream),
            cue="onward",
            millis=self._moment.millis,
            seed=self._moment.seed,
            taken=flow_chronicle.taken(change),
            given=flow_chronicle.given(change),
            status=after.flow.status,
        )
        self._known.write(_cued(moved, self._cue, before, change))

    def leave(self) -> None:
        pass


def _cued(moved: Moved, cue: Cue, before: Live, change: Delta) -> Moved:
    match cue:
        case Done():
            strand, outcome = before.strands[cue.strand], cue.outcome
            assert strand.work is not None
            worked = Worked(flow_chronicle.asked(strand.work), outcome.status, outcome.result, outcome.error)
            return replace(moved, cue="done", strand=strand.number, step=strand.step_id, worked=worked)
        case Came():
            came = (flow_chronicle.submitted(one) for one in cue.submissions if one.id in change.answers)
            return replace(moved, cue="came", came=tuple(came))
        case Due():
            return replace(moved, cue="due", strand=cue.strand, step=before.strands[cue.strand].step_id)
        case Onward():
            return moved
