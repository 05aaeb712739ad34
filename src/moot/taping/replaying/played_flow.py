"""A flow that takes its recorded way again: each commit in its turn, from the same cue and at the same moment. What is
committed then is compared with the recording."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from moot.core import json
from moot.core.clock import SystemClock
from moot.core.records import record
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.engine.expressions import moments
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.expressions.moments import AtMoment, Moment, Momentary
from moot.engine.flow import flows
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.flows import Flow
from moot.engine.flow.inbox import Submission
from moot.engine.step import Outcome
from moot.runner.flows.cues import Came, Cue, Done, Due, Onward, Position
from moot.taping import flow_chronicle
from moot.taping.flow_lines import Moved
from moot.taping.replaying import definition_likeness, flow_likeness, flow_parts
from moot.taping.replaying.drifts import difference
from moot.taping.replaying.flow_parts import FlowPart
from moot.taping.replaying.likeness import lasting
from moot.taping.replaying.performance import Performance
from moot.taping.replaying.turns import first_of

_STATUS = {"success": "is done", "failed": "fails", "skipped": "is left out"}


@record
class Hands:
    """Of the process that carries out the flow."""

    evaluator: Momentary
    signal: Signal  # rings when anything was committed
    stopping: asyncio.Event  # set when nothing new is to be begun


class PlayedFlow:
    """A `Guide`, while the flow is in the hands of this process."""

    is_asked = True

    def __init__(self, performance: Performance, part: FlowPart, hands: Hands) -> None:
        self._performance = performance
        self._part = part
        self._momentary = hands.evaluator
        self._signal = hands.signal
        self._stopping = hands.stopping
        self._note: Moved | None = None  # what is computed
        self._is_working = False
        self.evaluator: Evaluator = AtMoment(hands.evaluator, moments.new(SystemClock()))
        part.is_attended = True
        self._works()  # until it says otherwise: first it looks

    async def choose(self, live: Live, waiting: tuple[Submission, ...], own: Cue | None) -> Cue | None:
        self._works()
        await self._compare(live.flow)
        note = await self._turn()
        if note is None:
            self.evaluator = AtMoment(self._momentary, moments.new(SystemClock()))
            cue = self._own(live, own)
        else:
            self.evaluator = AtMoment(self._momentary, Moment(note.millis, note.seed))
            cue = await self._cue(note, live, waiting)
        self._note = note
        if cue is None and note is None:
            self._rests()
        return cue

    async def _compare(self, flow: Flow) -> None:
        """What it is made from with what was recorded, once."""
        part, started = self._part, self._part.started
        if part.is_compared or started is None:
            return
        part.is_compared = True
        store, hidden = await self._performance.store, self._performance.hiding.hidden
        files = await store.read(lambda tx: flows.files(tx, flow.id))
        for one in definition_likeness.compare(started.files, tuple((name, str(hidden(text))) for name, text in files)):
            part.changed(one.step, one.fact)
        for fact in flow_likeness.compare_given(started.given, flow.given, self._performance.plain):
            part.changed("", fact)

    async def _turn(self) -> Moved | None:
        """What is to be committed next, when it is its turn; None if the flow goes its own way."""
        part, turns = self._part, self._performance.turns
        while not part.is_free:
            note = part.next
            if note is not None and turns.current is note:
                return note
            if note is None:
                await self._until(part.freed.wait())
                continue
            with part.awaiting(note):
                await self._until(turns.moved())
        return None

    async def _until(self, wait: Coroutine[Any, Any, Any]) -> None:
        """Or until the flow goes its own way."""
        self._rests()
        await first_of(wait, self._part.freed.wait(), self._stopping.wait())
        if self._stopping.is_set():  # what the recording does not have by now is not done
            raise asyncio.CancelledError
        self._works()

    def _own(self, live: Live, own: Cue | None) -> Cue | None:
        """Its own cue; where it would wait for a time and nobody else does anything, that has come."""
        is_hurried, self._part.is_hurried = self._part.is_hurried, False
        if not is_hurried or not isinstance(own, Onward):
            return own
        timed = [one for one in live.strands.values() if one.status == "waiting" and one.wakes_at is not None]
        first = min(timed, key=lambda one: str(one.wakes_at), default=None)
        return own if first is None else Due(first.number)

    async def _cue(self, note: Moved, live: Live, waiting: tuple[Submission, ...]) -> Cue | None:
        """None if it has just come, and is to be looked at, or cannot come any more."""
        strand = live.strands.get(note.strand)
        match note.cue:
            case "onward":
                return Onward()
            case "came":
                return await self._came(note, waiting)
            case "due":
                is_there = strand is not None and (strand.status, strand.step_id) == ("waiting", note.step)
                return Due(note.strand) if is_there else self._lacking(note)
            case "done":
                if strand is None or strand.work is None or (strand.status, strand.step_id) != ("doing", note.step):
                    return self._lacking(note)
                assert note.worked is not None
                self._compare_work(note, flow_chronicle.asked(strand.work))
                result = self._performance.likeness.renamed(note.worked.result)
                return Done(note.strand, Outcome(note.worked.status, result, note.worked.error))

    async def _came(self, note: Moved, waiting: tuple[Submission, ...]) -> Cue | None:
        found = flow_parts.matched(note, waiting)
        if found is None:
            await self._until(self._signal.wait())
            return None
        return Came(found)

    def _lacking(self, note: Moved) -> None:
        self._part.drift(f"{note.step} is not at work where the recording goes on from it")
        self._signal.ring()

    def nothing_came(self) -> None:
        note, self._note = self._note, None
        if note is not None:
            self._part.drift(f"{self._name} waits, and goes on in the recording: {_told(note)}")
            self._signal.ring()
        self._rests()

    def position(self, tx: Tx, flow: Flow) -> Position | None:
        return None

    def committed(self, before: Live, change: Delta, after: Live, position: Position | None) -> None:
        if self._note is None:
            return
        note, self._note = self._note, None
        now = (*flow_chronicle.taken(change), *flow_chronicle.given(change))
        self._part.played(note)
        if now != _steps(note):
            self._part.drift(_difference(_steps(note), now))
        elif after.flow.status != note.status:
            error = f": {after.flow.error}" if after.flow.error else ""
            self._part.drift(f"{self._name} is {after.flow.status} instead of {note.status}{error}")

    def leave(self) -> None:
        self._rests()
        self._part.is_attended = False

    def _compare_work(self, note: Moved, now: Mapping[str, Any]) -> None:
        assert note.worked is not None
        for key in sorted({*note.worked.asked, *now}):
            old, new = (self._plain(one.get(key)) for one in (note.worked.asked, now))
            if old != new:
                self._part.differs(note.step, f"the {key} differs: {difference(old, new)}")

    def _plain(self, value: Any) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        return lasting(self._performance.plain(text))

    def _works(self) -> None:
        if not self._is_working:
            self._is_working = True
            self._part.works()

    def _rests(self) -> None:
        if self._is_working:
            self._is_working = False
            self._part.rests()

    @property
    def _name(self) -> str:
        return self._part.started.name if self._part.started is not None else ""


def _told(note: Moved) -> str:
    """What a commit has done, in words."""
    return ", ".join(_steps(note)) or f"it is {note.status}"


def _steps(note: Moved) -> tuple[str, ...]:
    return (*note.taken, *note.given)


def _difference(recorded: Sequence[str], now: Sequence[str]) -> str:
    """The first step that differs."""
    old, new = next(pair for pair in zip_longest(recorded, now, fillvalue="") if pair[0] != pair[1])
    if not new:
        return f"{_spelled(old)} in the recording, and not now"
    if not old:
        return f"{_spelled(new)}, which the recording does not have"
    return f"{_spelled(new)}, and in the recording {_spelled(old)}"


def _spelled(step: str) -> str:
    id, _, status = step.partition(" ")
    return f"{id} {_STATUS.get(status, 'is begun')}"
