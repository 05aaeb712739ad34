"""How a flow goes on: from a snapshot of it, and what has come for it, to the next commit. Nothing is stored here, and
nothing done outside: what somebody has to do is left with its strand."""

from datetime import datetime

from moot.core import clock, json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record, replace
from moot.engine import frames
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow import advance, beginning, endings, forks, handing, trouble
from moot.engine.flow.advance import Advanced, Footing
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.history import Doer, StepStatus, Taken
from moot.engine.flow.strands import Strand, moved
from moot.engine.scope import Scope
from moot.engine.state.reactive import Trace
from moot.engine.step import Outcome
from moot.engine.steps import waiting

_MOST_MOVES = 1000  # of control flow in one commit
_MOST_KEPT = 4000  # characters of what a step came to
_EVERY = 1_000_000  # tries: more than any step may have
_SAID = "user_message"


@record
class Driver:
    """Computes what comes next; `micros` is the store's time."""

    evaluator: Evaluator
    micros: int

    @property
    def now(self) -> datetime:
        return clock.from_micros(self.micros)

    async def next(self, live: Live) -> Delta | None:
        """What can be done at once, whatever time it is; None if everything waits."""
        delta = await self._next(live)
        return None if delta is None else await endings.settled(self.evaluator, live, delta)

    async def _next(self, live: Live) -> Delta | None:
        if live.flow.status == "starting":
            return await self._begin(live)
        if (found := forks.ended(live)) is not None:
            parent, outcome = found
            return await self._finish(live, parent, outcome, "moot")
        moving = [one for one in live.strands.values() if one.status == "moving"]
        for one in moving:
            if live.is_at_end(one):
                return await self._go_on(live, one)
        if not moving:
            return forks.begun(live)
        if live.flow.credits == 0:
            return None
        return _credited(live, await self._go_on(live, moving[0]))

    async def with_next(self, live: Live, delta: Delta) -> Delta:
        """Together with what a strand comes to next, if it can go on at once: the work that whoever has done the last
        will ask for, or its end, which whoever waits for it may ask about."""
        is_plain = delta.flow is None and not delta.is_anew and not delta.checkpoint and live.flow.credits is None
        if not is_plain or [one.status for one in delta.strands] != ["moving"]:
            return delta
        further = await self._go_on(live.after(delta), delta.strands[0])
        if [one.status for one in further.strands] == ["given"]:
            given = replace(further.strands[0], since=live.flow.version + 1)  # both are one commit
            return delta.then(replace(further, strands=(given,)))
        if further.is_anew or not further.strands[0].is_over:
            return delta
        return await endings.settled(self.evaluator, live, delta.then(further))

    async def _begin(self, live: Live) -> Delta:
        """Its state, as the definition says; a definition that cannot even begin has failed."""
        flow, main = live.flow, live.main
        try:
            given = beginning.inputs(live.definition, flow.given)
            begun = await beginning.state(self.evaluator, live.definition, given, live.own(main))
        except MootError as error:
            return trouble.ended(live, main, str(error))
        return Delta(begun.fields, (main,), traces=begun.traces, flow=replace(flow, status="in_progress"))

    def due(self, live: Live) -> Strand | None:
        """One whose time has come."""
        if live.flow.status == "starting":
            return None
        for one in live.strands.values():
            if one.status == "waiting" and one.wakes_at is not None and one.wakes_at <= self.now:
                return one
        return None

    async def wake(self, live: Live, strand: Strand) -> Delta:
        """Its time has come: what it waited for is over, or its work is done once more."""
        return await endings.settled(self.evaluator, live, await self._woken(live, strand))

    async def _woken(self, live: Live, strand: Strand) -> Delta:
        if strand.work is None or strand.work.type != "wait":
            return Delta(strands=(replace(strand, status="given", wakes_at=None),))
        is_late = strand.waits_on is not None
        late = Outcome("failed", {waiting.TIMED_OUT: True}, "Its time is up.") if is_late else Outcome()
        return await self._finish(live, strand, late, "moot")

    async def _go_on(self, live: Live, strand: Strand) -> Delta:
        """Through control flow to the next step that does something, which is a commit of its own."""
        own = live.own(strand)
        footing = Footing(live.fields, strand.frames, tries=strand.tries)
        taken: list[Taken] = []
        traces: list[Trace] = []
        fields: dict[str, str | None] = {}
        while len(taken) < _MOST_MOVES:
            try:
                done = await advance.advance(self.evaluator, live.definition, footing, own)
            except MootError as error:
                if footing.frames != strand.frames:  # so far it was well: that first
                    break
                return await trouble.failed(self.evaluator, live, strand, error)
            if live.flow.driver == "agent" and handing.is_update(live.definition, footing, done):
                if footing.frames != strand.frames:
                    break
                return await handing.update(self.evaluator, live, strand, done)
            if done.work is not None:
                so_far = Delta(fields, taken=tuple(taken), traces=tuple(traces))
                there = replace(strand, frames=footing.frames)
                is_said = live.flow.driver == "moot" and done.work.type == _SAID
                return _said(there, done, so_far) if is_said else self._given(live, there, done, so_far)
            taken += _noted(strand, done)
            traces += done.change.traces
            fields.update(done.change.fields)
            if done.after.is_over:
                return endings.over(live, strand, done, Delta(fields, taken=tuple(taken), traces=tuple(traces)))
            footing = done.after
            is_allowed_alone = bool(taken) and live.flow.credits is not None  # one step at a time
            if done.updates or done.warning or is_allowed_alone:
                break
        return Delta(fields, (moved(strand, footing.frames),), tuple(taken), tuple(traces))

    def _given(self, live: Live, strand: Strand, done: Advanced, so_far: Delta) -> Delta:
        """Work for somebody. Tasks are strands of their own, which somebody waits for: the parent, or who stays
        behind in its place."""
        assert done.work is not None
        given = replace(
            moved(strand, strand.frames, strand.tries),
            status="given",
            step_id=done.step_id,
            work=replace(done.work, inside=Scope.at(live.definition, strand.frames, {}, {}).prefix),
            since=live.flow.version + 1,
            given_at=self.now,
        )
        assert given.work is not None
        if given.work.type != forks.TASKS:
            return replace(so_far, strands=(given,))
        fork = forks.opened(live, given, given.work)
        waits_itself = fork.waiting.number == strand.number
        parent = fork.waiting if waits_itself else moved(strand, frames.on(strand.frames))
        if live.flow.driver == "agent":  # which is told of them first
            parent = replace(given, status="pending", work=fork.waiting.work)
        return replace(so_far, strands=(parent, *(() if waits_itself else (fork.waiting,)), *fork.tasks))

    async def finish(self, live: Live, strand: Strand, outcome: Outcome, doer: Doer = "moot") -> Delta:
        """The work of a strand was done, well or not."""
        return await endings.settled(self.evaluator, live, await self._finish(live, strand, outcome, doer))

    async def _finish(self, live: Live, strand: Strand, outcome: Outcome, doer: Doer) -> Delta:
        footing = Footing(live.fields, strand.frames, tries=_EVERY if outcome.is_final else strand.tries)
        try:
            done = await advance.finish(self.evaluator, live.definition, footing, outcome, live.own(strand))
        except MootError as error:
            failing = replace(strand, step_id="", work=None) if outcome.is_final else strand  # it has come to no work
            delta = await trouble.failed(self.evaluator, live, failing, error, doer)
            return self._without_children(live, strand, delta)
        if done.again is not None:
            return self._again(strand, done, outcome, doer)
        taken = _finished(strand, outcome, doer, done)
        told = Delta(done.change.fields, taken=(taken,), traces=done.change.traces)
        if strand.is_detached:
            return replace(told, strands=(replace(strand, status="done"),))
        if done.after.is_over:
            return endings.over(live, strand, done, told)
        following = replace(moved(strand, done.after.frames), seen_step=_seen(live, strand, doer))
        return self._without_children(live, strand, replace(told, strands=(following,)))

    def past(self, live: Live, strand: Strand, doer: Doer, status: str = "success") -> Delta:
        """Behind the work of a strand, which has left what came of it in the state, or is left out."""
        assert strand.work is not None
        how: StepStatus = "skipped" if status == "skipped" else "success"
        taken = Taken(strand.number, strand.step_id, strand.work.type, doer, how, started_at=strand.given_at)
        following = replace(moved(strand, frames.on(strand.frames)), seen_step=_seen(live, strand, doer))
        return Delta(strands=(following,), taken=(taken,))

    def _again(self, strand: Strand, done: Advanced, outcome: Outcome, doer: Doer) -> Delta:
        """The same work once more: at once, or after a while."""
        assert strand.work is not None and done.again is not None
        told = {**strand.work.definition, "previous_error": done.error or outcome.error}
        again = replace(
            strand,
            status="given",
            tries=done.after.tries,
            work=replace(strand.work, definition=told),
            given_at=self.now + done.again,
            waits_on=None,
        )
        if done.again.total_seconds() > 0:
            again = replace(again, status="waiting", wakes_at=self.now + done.again)
        began, type_ = strand.given_at, strand.work.type
        note = Taken(strand.number, strand.step_id, type_, doer, "failed", error=done.error, started_at=began)
        return Delta(strands=(again,), taken=(note,))

    def _without_children(self, live: Live, strand: Strand, delta: Delta) -> Delta:
        """Nobody waits any more for tasks of a strand that has gone on."""
        if delta.is_anew or strand.work is None or strand.work.type != forks.TASKS:
            return delta
        known = {one.number for one in delta.strands}
        return replace(
            delta, strands=(*delta.strands, *(one for one in forks.given_up(live, strand) if one.number not in known))
        )


def _credited(live: Live, delta: Delta) -> Delta:
    if live.flow.credits is None:
        return delta
    flow = delta.flow or live.flow
    return replace(delta, flow=replace(flow, credits=live.flow.credits - 1))


def _said(strand: Strand, done: Advanced, so_far: Delta) -> Delta:
    """Words that moot says itself: that takes nobody, so they are said with the commit that goes on behind them."""
    assert done.work is not None
    words = str(done.work.definition["message"])
    taken = Taken(strand.number, done.step_id, done.work.type, detail={"message": words[:_MOST_KEPT]})
    following = moved(strand, frames.on(strand.frames))
    return replace(so_far, strands=(following,), taken=(*so_far.taken, taken), says=(words,))


def _noted(strand: Strand, done: Advanced) -> list[Taken]:
    if not done.step_id:  # only a block has ended
        return []
    type_ = done.step_id.rpartition(".")[2]
    detail: dict[str, Json] = {"warning": done.warning} if done.warning else {}
    return [Taken(strand.number, done.step_id, type_, detail=detail)]


def _finished(strand: Strand, outcome: Outcome, doer: Doer, done: Advanced) -> Taken:
    """What is kept of work that was done: of a command how it ended, and the beginning of what it printed."""
    assert strand.work is not None
    detail: dict[str, Json] = {}
    if strand.work.type == "shell_command":
        detail["command"] = strand.work.definition.get("command")
    if strand.work.type == "mcp_call":
        detail["method"] = strand.work.definition.get("method")
    text = json.dumps(outcome.result)
    detail["result"] = outcome.result if len(text) <= _MOST_KEPT else text[:_MOST_KEPT]
    if done.warning:
        detail["warning"] = done.warning
    status = "success" if outcome.status == "success" else "failed"
    return Taken(strand.number, strand.step_id, strand.work.type, doer, status, detail, outcome.error, strand.given_at)


def _seen(live: Live, strand: Strand, doer: Doer) -> int:
    """Whoever drives a strand has seen everything up to the step that it has done."""
    return live.flow.last_step + 1 if doer == "agent" else strand.seen_step
