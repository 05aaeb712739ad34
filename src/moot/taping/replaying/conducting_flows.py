"""Conducting flows: they are taken up when it is their turn, and wait for no time. What a flow goes on from, and nobody
brings about any more, is a drift of it."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TypeVar

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId
from moot.core.tx import ReadTx, Tx
from moot.engine.flow import flows, inbox, strands
from moot.jobs.jobs import Job
from moot.registry import runs
from moot.registry.runs import Run
from moot.runner import phases
from moot.store.store import Store
from moot.taping.flow_lines import Moved
from moot.taping.replaying import flow_parts, gates
from moot.taping.replaying.performance import Performance
from moot.taping.replaying.score import Note
from moot.taping.tape import Call
from moot.tools import advancing

T = TypeVar("T")
_MOMENT = timedelta(seconds=1)


class FlowConductor:
    """For the conductor of a run, while it is attended."""

    def __init__(self, performance: Performance, store: Store, run: Run) -> None:
        self._performance = performance
        self._store = store
        self._run = run

    async def rouse(self, note: Moved) -> None:
        """Have it taken up if it is in nobody's hands, perhaps because it waits for a time."""
        part = self._performance.flows.of(note)
        if part is not None and part.flow is not None and not part.is_attended:
            await self._write(partial(advancing.advance, flow=part.flow, stream=self._run.stream))

    def is_waiting(self, tx: ReadTx, job: Job) -> bool:
        """What is due in a moment is taken up by then."""
        is_later = job.state == "queued" and job.run_at - tx.now > _MOMENT
        return is_later or self._performance.flows.is_waiting(FlowId(job.subject))

    def goes_on(self, tx: ReadTx, note: Note | None) -> bool:
        """Whether all is there that a flow goes on from, or that it makes a call for: it comes to that in a moment."""
        if not isinstance(note, Moved | Call) or note.flow is None:
            return False
        part = self._performance.flows.of(note)
        if part is None or part.flow is None or part.is_free:
            return False
        if isinstance(note, Moved):
            return bool(note.came) and flow_parts.matched(note, inbox.waiting(tx, part.flow)) is not None
        strand = strands.of_flow(tx, part.flow).get(note.strand)
        is_at_it = strand is not None and (strand.status, strand.step_id) == ("doing", note.step)
        return part.is_attended and is_at_it

    async def help(self, note: Moved) -> bool:
        """It does not go on. True: something was done about it."""
        kinds = gates.jobs_behind(self._performance, note)
        is_helped = (
            await self._write(partial(_begin_next, run=self._run))
            or await self._write(partial(gates.hurry_next, run=self._run, kinds=kinds))
            or await self.hurry()
        )
        is_left = self._performance.turns.current is note and not self._performance.is_busy()
        if not is_helped and is_left and not await self._store.read(lambda tx: self.goes_on(tx, note)):
            self._performance.flows.stuck(note)
        return True

    async def hurry(self) -> bool:
        """The time has come that a flow waits for which goes its own way; False if none does."""
        for part in self._performance.flows.all:
            flow = part.flow
            if flow is None or not part.is_free or not await self._store.read(partial(_waits_for_time, flow=flow)):
                continue
            part.is_hurried = True
            await self._write(partial(advancing.advance, flow=flow, stream=self._run.stream))
            return True
        return False

    async def _write(self, change: Callable[[Tx], T]) -> T:
        return await self._store.write(change, caller=SYSTEM)


def _begin_next(tx: Tx, run: Run) -> bool:
    """A step was to be taken, and what went before it is quiet: the tasks have begun then, or the steps."""
    found = runs.get(tx, run.id)
    if found.phase not in ("talk", "tasks"):
        return False
    return phases.begin_tasks(tx, found) or phases.begin_steps(tx, found)


def _waits_for_time(tx: ReadTx, flow: FlowId) -> bool:
    found = strands.of_flow(tx, flow).values()
    is_timed = any(one.status == "waiting" and one.wakes_at is not None for one in found)
    return is_timed and flows.get(tx, flow).is_live
