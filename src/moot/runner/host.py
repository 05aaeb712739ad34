"""A host: wakes up when something was committed, reacts, takes jobs and carries them out.

It never polls for work: it sleeps until a commit, the earliest timer, or the end of a lease.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import HostId, JobId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.core.wakes import Signal
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job
from moot.registry import hosts, runs
from moot.registry.hosts import NewHost
from moot.runner import neighbours, react
from moot.runner.reactions.wake_agents import ATTEMPT
from moot.runner.trouble import Trouble
from moot.runner.worker import Task, Worker
from moot.store.errors import StoreNotFound
from moot.store.store import Store

_log = logging.getLogger("moot.runner")
_LONGEST_SLEEP = 60.0
_PAST_DEADLINE = 0.01
_ELSEWHERE = timedelta(milliseconds=100)  # until the host has it whose job it is


@record
class Pace:
    """How much at once, and how often the host looks after itself."""

    attempts: int = 32
    others: int = 16
    beat_seconds: float = 10.0
    watch_seconds: float = 2.0  # for neighbours that died
    grace_seconds: float = 10.0  # for attempts that run when the host stops
    brief_grace_seconds: float = 3.0  # for other jobs, where no attempt runs


@dataclass(slots=True)
class _Desk:
    """What is being done right now."""

    tasks: dict[JobId, "asyncio.Task[None]"] = field(default_factory=dict[JobId, "asyncio.Task[None]"])
    attempts: set[JobId] = field(default_factory=set[JobId])


@record
class _Outlook:
    """What a host sees when it looks up, in one snapshot."""

    asked: hosts.How | None  # whether somebody wants it to end
    cancelled: list[JobId]  # of what it does
    seconds: float | None  # how long it may sleep; None: there is work


MakeWorkers = Callable[[HostId], Mapping[str, Worker]]


class Host:
    """Runs until stopped. Stopping lets attempts finish for a while, stopping now ends them at once."""

    def __init__(
        self,
        store: Store,
        new: NewHost,
        make_workers: MakeWorkers,
        pace: Pace | None = None,
        stopping: asyncio.Event | None = None,  # which workers look at, too
    ) -> None:
        self._store = store
        self._new = new
        self._make_workers = make_workers
        self._pace = pace or Pace()
        self._desk = _Desk()
        self._trouble = Trouble()
        self._workers: Mapping[str, Worker] = {}
        self._id = HostId("")
        self._stopping = stopping or asyncio.Event()
        self._forced = asyncio.Event()

    @property
    def id(self) -> HostId:
        return self._id

    def stop(self, *, now: bool = False) -> None:
        if now:
            self._forced.set()
        self._stopping.set()

    async def stopping(self) -> None:
        """Returns when somebody has asked the host to stop."""
        await self._stopping.wait()

    async def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Work until `stop`; `ready` is called once the host is registered."""
        self._id = await self._store.write(lambda tx: hosts.register(tx, self._new), caller=SYSTEM)
        self._workers = self._make_workers(self._id)
        try:
            with self._store.listen() as signal:
                async with asyncio.TaskGroup() as group:
                    watch = group.create_task(self._watch())
                    ready()
                    await self._work(group, signal)
                    await self._drain()
                    watch.cancel()
        finally:
            await self._leave()

    async def _leave(self) -> None:
        try:
            await self._store.write(lambda tx: hosts.stop(tx, self._id), caller=SYSTEM)
        except MootError as error:  # its lease runs out by itself
            _log.warning("the host could not sign off: %s", error)

    async def _work(self, group: asyncio.TaskGroup, signal: Signal) -> None:
        stopping = group.create_task(self._ring_when_stopping(signal))
        while not self._stopping.is_set():
            signal.clear()
            try:
                seen = await self._store.read(partial(self._look, running=tuple(self._desk.tasks)))
                self._heed(seen)
                if seen.seconds is None:
                    await self._turn(group, signal)
                else:
                    await signal.wait(seen.seconds)
            except StoreNotFound:
                raise  # removed or replaced: there is nothing left to host
            except (MootError, OSError) as error:
                self._trouble.met(error)
                await signal.wait(1.0)
        stopping.cancel()

    async def _ring_when_stopping(self, signal: Signal) -> None:
        await self._stopping.wait()
        signal.ring()

    def _look(self, tx: ReadTx, running: Sequence[JobId]) -> _Outlook:
        return _Outlook(
            hosts.stop_asked(tx, self._id),
            jobs.cancelled(tx, running),
            None if react.has_news(tx) else self._seconds_to_sleep(tx),
        )

    def _seconds_to_sleep(self, tx: ReadTx) -> float | None:
        """Until a job is due or a lease runs out; None if that is so already."""
        appetite = self._appetite()
        due = jobs.next_at(tx, attempts=appetite.attempts > 0, others=appetite.others > 0)
        moments = [moment for moment in (due, jobs.next_loss(tx)) if moment is not None]
        seconds = min(((moment - tx.now).total_seconds() for moment in moments), default=_LONGEST_SLEEP)
        return min(seconds, _LONGEST_SLEEP) if seconds > 0 else None

    def _heed(self, seen: _Outlook) -> None:
        """End what somebody has cancelled; and this host itself, if that is wanted."""
        for id in seen.cancelled:
            if (task := self._desk.tasks.get(id)) is not None:
                _end(task)
        if seen.asked is not None:
            self.stop(now=seen.asked == "now")

    async def _turn(self, group: asyncio.TaskGroup, signal: Signal) -> None:
        """React, recover and take jobs in one transaction, then start what was taken."""
        taken = await self._store.write(self._take, caller=SYSTEM)
        self._trouble.over()
        for job, task, seconds in taken:
            self._start(group, job, _contained(job, task, seconds), signal)

    def _take(self, tx: Tx) -> list[tuple[Job, Task, float | None]]:
        """What was begun, and how many seconds each has until its deadline, by the store's clock."""
        react.react(tx)
        for job in jobs.lost(tx):
            if job.kind in self._workers:
                self._workers[job.kind].lost(tx, job)
        begun: list[tuple[Job, Task, float | None]] = []
        taken = jobs.take(tx, self._appetite())
        held = runs.held_elsewhere(tx, self._id) if taken else frozenset[StreamId]()
        for job in taken:
            if job.stream in held:
                jobs.postpone(tx, job, tx.now + _ELSEWHERE)
                continue
            task = self._begin(tx, job)
            if task is not None:
                left = None if job.deadline is None else (job.deadline - tx.now).total_seconds()
                begun.append((job, task, left))
        return begun

    def _begin(self, tx: Tx, job: Job) -> Task | None:
        worker = self._workers.get(job.kind)
        if worker is None:
            jobs.fail(tx, job, f"no worker knows jobs of kind {job.kind!r}")
            return None
        if job.deadline is not None and job.deadline <= tx.now:
            jobs.fail(tx, job, "its deadline passed before it was begun")
            worker.late(tx, job)
            return None
        try:
            return worker.begin(tx, job)
        except MootError as error:  # a job that cannot be begun must not keep the others waiting
            jobs.fail(tx, job, f"{error.code}: {error}")
            return None

    def _appetite(self) -> Appetite:
        roles = self._new.roles
        running = len(self._desk.attempts)
        return Appetite(
            host=self._id,
            attempts=self._pace.attempts - running if "run" in roles else 0,
            others=self._pace.others - (len(self._desk.tasks) - running) if "work" in roles else 0,
        )

    def _start(self, group: asyncio.TaskGroup, job: Job, work: Coroutine[None, None, None], signal: Signal) -> None:
        before = self._desk.tasks.get(job.id)
        if before is not None:
            _end(before)  # this host has overslept its lease, and taken the job anew
        running = group.create_task(work)
        self._desk.tasks[job.id] = running
        if job.kind == ATTEMPT:
            self._desk.attempts.add(job.id)

        def over(ended: "asyncio.Task[None]") -> None:
            if self._desk.tasks.get(job.id) is not ended:
                return
            before = self._appetite()
            self._desk.tasks.pop(job.id, None)
            self._desk.attempts.discard(job.id)
            if before.attempts <= 0 or before.others <= 0:
                signal.ring()  # there is room for a job that nobody had an eye for

        running.add_done_callback(over)

    async def _watch(self) -> None:
        """Renew the lease, and see to neighbours that died; until cancelled."""
        loop = asyncio.get_running_loop()
        next_beat = loop.time() + self._pace.beat_seconds
        while True:
            await asyncio.sleep(self._pace.watch_seconds)
            try:
                await neighbours.see_to(self._store)
                if loop.time() >= next_beat:
                    next_beat = loop.time() + self._pace.beat_seconds
                    await self._beat()
            except StoreNotFound:
                raise
            except (MootError, OSError) as error:
                self._trouble.met(error)

    async def _beat(self) -> None:
        tasks = dict(self._desk.tasks)

        def renew(tx: Tx) -> list[JobId]:
            hosts.renew(tx, self._id)
            hosts.expire(tx)
            return jobs.renew(tx, self._id, tasks)

        owned = set(await self._store.write(renew, caller=SYSTEM))
        self._trouble.over()
        for id, task in tasks.items():
            if id not in owned:
                _end(task)

    async def _drain(self) -> None:
        """Let what runs come to its end, for a while; then cancel it."""
        tasks = set(self._desk.tasks.values())
        if not tasks:
            return
        grace = self._pace.grace_seconds if self._desk.attempts else self._pace.brief_grace_seconds
        forced = asyncio.ensure_future(self._forced.wait())
        try:
            async with asyncio.timeout(grace):
                while tasks and not forced.done():
                    done, _ = await asyncio.wait({*tasks, forced}, return_when=asyncio.FIRST_COMPLETED)
                    tasks -= done
        except TimeoutError:
            _log.warning("%d job(s) did not end in time and are interrupted", len(tasks))
        finally:
            forced.cancel()
        for task in tasks:
            task.cancel("the host stops")


def _end(task: "asyncio.Task[None]") -> None:
    """Once: a second cancellation would cut short how it cleans up."""
    if not task.cancelling():
        task.cancel("the job was taken away")


async def _contained(job: Job, task: Task, seconds: float | None) -> None:
    """One job's failure is its own."""
    # A little later than the store's clock says, so that whoever is cut off finds its deadline passed.
    seconds = None if seconds is None else seconds + _PAST_DEADLINE
    try:
        async with asyncio.timeout(seconds):
            await task()
    except TimeoutError:
        _log.warning("the job %s (%s) did not end before its deadline", job.id, job.kind)
    except Exception:  # noqa: BLE001  # the boundary of a job
        _log.exception("the job %s (%s) failed", job.id, job.kind)
