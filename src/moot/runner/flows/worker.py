"""The job that advances a flow: it computes what comes next outside of any transaction, commits it, does what is moot's
to do, and waits a moment for more before it gives the job back."""

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING

from moot.core.caller import SYSTEM
from moot.core.ears import Ears
from moot.core.errors import MootError
from moot.core.ids import FlowId
from moot.core.library import Files
from moot.core.records import record
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.engine.definition import Definition
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.files import compiling
from moot.engine.flow import flows, folding, inbox, strands
from moot.engine.flow.flows import Flow
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost, NewJob
from moot.runner.flows import section
from moot.runner.flows.cues import Guide, Guiding, Unguided
from moot.runner.flows.deeds import Deeds
from moot.runner.flows.hearing import Hearing
from moot.runner.flows.holding import Holding
from moot.runner.worker import Task
from moot.store.store import Store
from moot.tools.advancing import ADVANCE

if TYPE_CHECKING:
    from moot.client.external import Surroundings


@record
class FlowWorker:
    """Carries out the jobs of kind `advance`. Once `stopping` is set nothing new is begun."""

    store: Store
    evaluator: Evaluator
    deeds: Deeds
    around: Callable[[], "Surroundings"]
    stopping: asyncio.Event
    guiding: Guiding | None = None  # of flows that are recorded, or played again
    ears: Ears = field(default_factory=Ears)  # of this process

    def guide(self, flow: Flow, signal: Signal) -> Guide:
        return Unguided(self.evaluator) if self.guiding is None else self.guiding(flow, signal)

    def begin(self, tx: Tx, job: Job) -> Task | None:
        found = flows.find(tx, FlowId(job.subject))
        is_over = found is None or (not found.is_live and inbox.is_empty(tx, found.id))
        if found is None or is_over or section.is_held(tx, found):
            jobs.finish(tx, job)
            return None
        return partial(self._carry_out, job)

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline; each command has its own."""

    def lost(self, tx: Tx, job: Job) -> None:
        """The next owner sees what was being done, and asks where it cannot know."""

    async def _carry_out(self, job: Job) -> None:
        id = FlowId(job.subject)
        try:
            flow, files = await self.store.write(lambda tx: _taken_over(tx, job, id), caller=SYSTEM)
            definition = await asyncio.to_thread(compiling.compiled, files)
            while True:
                await self._hold(job, flow, definition)
                if await self.store.write(partial(self.give_back, job=job, id=id), caller=SYSTEM):
                    return
        except asyncio.CancelledError:
            with contextlib.suppress(JobLost):
                await self.store.write(lambda tx: jobs.put_back(tx, job), caller=SYSTEM)
            raise
        except JobLost:
            return
        except MootError as error:  # its texts cannot be read, or the sandbox is gone
            told = str(error)
            with contextlib.suppress(JobLost):
                await self.store.write(lambda tx: _fail(tx, job, id, told), caller=SYSTEM)

    async def _hold(self, job: Job, flow: Flow, definition: Definition) -> None:
        trouble: MootError | None = None
        async with asyncio.TaskGroup() as group:
            with self.store.listen() as signal:
                guide, hearing = self.guide(flow, signal), Hearing(signal)
                holding = Holding(self.store, job, definition, self, group, signal, guide, hearing)
                try:
                    with self._open(flow, hearing):
                        await holding.go()
                except MootError as error:  # which the group would wrap
                    trouble = error
                holding.leave()
        if trouble is not None:
            raise trouble

    def _open(self, flow: Flow, hearing: Hearing) -> AbstractContextManager[None]:
        """Others here can speak to it, unless it is guided: then every cue comes from the store."""
        return self.ears.open(flow.id, hearing) if self.guiding is None else contextlib.nullcontext()

    def give_back(self, tx: Tx, job: Job, id: FlowId) -> bool:
        """True unless something has come in the meantime. What waits for a time is looked at again then."""
        if self.stopping.is_set():
            jobs.put_back(tx, job)
            return True
        jobs.guard(tx, job)  # first: whoever has something for the flow finds a job that is under way, and adds none
        flow = flows.get(tx, id)
        if not section.is_held(tx, flow) and (not inbox.is_empty(tx, id) or (flow.is_live and flow.waits_for == "")):
            return False
        moments = [one.wakes_at for one in strands.of_flow(tx, id).values() if one.wakes_at is not None]
        if flow.is_live and moments:
            jobs.add(tx, NewJob(job.key, ADVANCE, job.stream, job.subject, run_at=min(moments)))
        jobs.finish(tx, job)
        return True


def _taken_over(tx: Tx, job: Job, id: FlowId) -> tuple[Flow, Files]:
    """What whoever had it before has not committed by now is refused. (Flows go before jobs in every transaction.)"""
    flows.take_over(tx, id)
    jobs.guard(tx, job)
    return flows.get(tx, id), flows.files(tx, id)


def _fail(tx: Tx, job: Job, id: FlowId, error: str) -> None:
    flow = flows.find(tx, id)
    if flow is not None:
        flows.end(tx, flow, "failed", error)
    jobs.fail(tx, job, error)
    for one in inbox.waiting(tx, id):  # nobody else comes for it
        inbox.answer(tx, one.id, folding.refusal("WORKFLOW_FAILED", error, "See moot flow."))
