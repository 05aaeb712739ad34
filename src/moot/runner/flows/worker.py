"""The job that advances a flow: it computes what comes next outside of any transaction, commits it, does what is moot's
to do, and waits a moment for more before it gives the job back."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import FlowId, RunId
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal
from moot.engine import compiling, delta, flows, folding, inbox, strands
from moot.engine.definition import Definition
from moot.engine.delta import Delta, Live
from moot.engine.driving import Driver
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.inbox import Submission
from moot.engine.step import Outcome
from moot.engine.strands import Strand
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost, NewJob
from moot.process import sweep
from moot.registry import runs
from moot.runner.flows import deeds, placing
from moot.runner.flows.deeds import Deeds
from moot.runner.flows.placing import Placing
from moot.runner.worker import Task
from moot.store.store import Store
from moot.tools.advancing import ADVANCE

if TYPE_CHECKING:
    from moot.connect.external import Surroundings
    from moot.runner.flows.servers import Servers

T = TypeVar("T")
_LONGEST = 60.0
_LINGER = 0.5  # seconds after which the job is given back, if nothing comes


@record
class FlowWorker:
    """Carries out the jobs of kind `advance`."""

    store: Store
    evaluator: Evaluator
    deeds: Deeds
    around: Callable[[], "Surroundings"]

    def begin(self, tx: Tx, job: Job) -> Task | None:
        found = flows.find(tx, FlowId(job.subject))
        if found is None or (not found.is_live and inbox.is_empty(tx, found.id)):
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
            definition = compiling.compiled(await self.store.read(lambda tx: flows.files(tx, id)))
            while True:
                await self._advance(id, definition)
                if await self.store.write(lambda tx: _is_given_back(tx, job, id), caller=SYSTEM):
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

    async def _advance(self, id: FlowId, definition: Definition) -> None:
        async with asyncio.TaskGroup() as group:
            with self.store.listen() as signal:
                advancing = _Advancing(self, id, definition, group, signal)
                await advancing.go()
            advancing.leave()


@dataclass(slots=True)
class _Advancing:
    """A flow in the hands of this process, until nothing of it can be done here for a moment."""

    worker: FlowWorker
    id: FlowId
    definition: Definition
    group: asyncio.TaskGroup
    signal: Signal
    outcomes: list[tuple[Strand, Outcome]] = field(default_factory=list[tuple[Strand, Outcome]])
    begun: set[tuple[int, int, int]] = field(default_factory=set[tuple[int, int, int]])  # all that was, each once
    doing: int = 0  # how many are under way
    servers: "Servers | None" = None

    async def go(self) -> None:
        found = await self._look()
        live = await self._recovered(found.live, found.now)
        while not found.is_held and (live.flow.is_live or found.waiting):
            driver = Driver(self.worker.evaluator, found.now)
            change = await self._next(driver, live, found.waiting)
            if change is not None:
                done = await self._committed(live, change)
                if done is not None and not done.has_mail:
                    live, found = done.live, replace(found, now=done.now, waiting=())
                    self._start(live)
                    continue
            elif not await self._rest(live, found.now):
                return
            found = await self._look()
            live = found.live
            self._start(live)

    def leave(self) -> None:
        if self.servers is not None:
            self.servers.leave()

    async def _look(self) -> "_Found":
        self.signal.clear()
        return await self.worker.store.read(lambda tx: _found(tx, self.id, self.definition))

    async def _next(self, driver: Driver, live: Live, waiting: tuple[Submission, ...]) -> Delta | None:
        if self.outcomes:
            strand, outcome = self.outcomes.pop(0)
            held = live.strands.get(strand.number)
            if held is None or held.status != "doing" or held.since != strand.since:  # it was given up meanwhile
                return await self._next(driver, live, waiting)
            return await driver.finish(live, held, outcome)
        if waiting:
            return await folding.take_in(driver, live, waiting)
        return await driver.next(live) if live.flow.is_live else None

    async def _committed(self, live: Live, change: Delta) -> "_Done | None":
        place = Placing(self.worker.deeds.can_call, self.worker.deeds.place)
        return await self.worker.store.write(lambda tx: _commit(tx, live, change, place), caller=SYSTEM)

    async def _recovered(self, live: Live, now: datetime) -> Live:
        """What was being done by whoever had this before: again, if that does nothing twice; else somebody is asked."""
        for strand in [one for one in live.strands.values() if one.status == "doing"]:
            await asyncio.to_thread(sweep.kill_marked, deeds.marker(strand))
            if not self.worker.deeds.is_repeatable(strand):
                await self.worker.store.write(partial(_ask_what_became, strand=strand), caller=SYSTEM)
        found = await self._look()
        self._start(found.live)
        return found.live

    def _start(self, live: Live) -> None:
        """Begin what is to be done here; and end what nobody wants any more, by not listening to it."""
        for strand in live.strands.values():
            work = (strand.number, strand.since, strand.tries)
            if strand.status == "doing" and work not in self.begun:
                self.begun.add(work)
                self.doing += 1
                self.group.create_task(self._do(live, strand))

    async def _do(self, live: Live, strand: Strand) -> None:
        outcome = await self.worker.deeds.do(live.flow, strand, self._connected)
        self.outcomes.append((strand, outcome))
        self.doing -= 1
        self.signal.ring()

    def _connected(self) -> "Servers":
        from moot.runner.flows.servers import Servers  # noqa: PLC0415  # brings the whole MCP library along

        if self.servers is None:
            self.servers = Servers(self.worker.around(), self.group)
        return self.servers

    async def _rest(self, live: Live, now: datetime) -> bool:
        """Until something comes; False if nothing does for a while, and nothing is being done here."""
        moments = [one.wakes_at for one in live.strands.values() if one.status == "waiting" and one.wakes_at]
        seconds = min([(one - now).total_seconds() for one in moments], default=_LONGEST)
        if self.doing:
            await self.signal.wait(max(seconds, 0))
            return True
        return await self.signal.wait(min(max(seconds, 0), _LINGER)) or seconds <= _LINGER


@record
class _Found:
    live: Live
    waiting: tuple[Submission, ...]
    now: datetime
    is_held: bool  # its run is over, or is not to go on


@record
class _Done:
    live: Live
    has_mail: bool
    now: datetime


def _found(tx: ReadTx, id: FlowId, definition: Definition) -> _Found:
    is_held = not runs.goes_on(tx, RunId(id))
    return _Found(delta.load(tx, id, definition), tuple(inbox.waiting(tx, id)), tx.now, is_held)


def _commit(tx: Tx, live: Live, change: Delta, place: Placing) -> _Done | None:
    """None if it was computed in vain: somebody else has changed the flow, or its run is not to go on."""
    tx.lock("instances", live.flow.instance)  # as whoever ends a run does: afterwards nobody is asked for anything
    if not runs.goes_on(tx, RunId(live.flow.id)):
        return None
    found = delta.commit(tx, live, change, place)
    return None if found is None else _Done(found, not inbox.is_empty(tx, live.flow.id), tx.now)


def _ask_what_became(tx: Tx, strand: Strand) -> None:
    flow = flows.get(tx, strand.flow)
    asked = placing.ask_what_became(tx, flow, strand)
    strands.put(tx, asked)
    flows.mark(tx, flow, "person")


def _is_given_back(tx: Tx, job: Job, id: FlowId) -> bool:
    """Unless something has come in the meantime. What waits for a time is looked at again then."""
    flow = flows.get(tx, id)
    if not runs.goes_on(tx, RunId(id)):  # whoever goes on with it looks again
        jobs.finish(tx, job)
        return True
    if not inbox.is_empty(tx, id) or (flow.is_live and flow.waits_for == "" and flow.status != "starting"):
        jobs.guard(tx, job)
        return False
    moments = [one.wakes_at for one in strands.of_flow(tx, id).values() if one.wakes_at is not None]
    if flow.is_live and moments:
        jobs.add(tx, NewJob(job.key, ADVANCE, job.stream, job.subject, run_at=min(moments)))
    jobs.finish(tx, job)
    return True


def _fail(tx: Tx, job: Job, id: FlowId, error: str) -> None:
    jobs.fail(tx, job, error)
    flow = flows.find(tx, id)
    if flow is not None:
        flows.end(tx, flow, "failed", error)
