"""A flow in the hands of this process: one commit after the other, until nothing of it can be done here for a moment.

What was done outside the store is noted before it is forgotten here: a commit that is refused is computed anew, and
nothing is done a second time for it.

Whoever has something for a flow rings. As long as nobody does, one step follows the other without a look into the
store; and those who watch are woken for mere moves only now and then.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from moot.core import clock
from moot.core.caller import SYSTEM
from moot.core.ears import Word
from moot.core.ids import FlowId
from moot.core.records import replace
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.engine.definition import Definition
from moot.engine.flow import delta, folding, inbox
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.driving import Driver
from moot.engine.flow.foresight import Foresight
from moot.engine.flow.inbox import Submission
from moot.engine.flow.strands import Strand
from moot.engine.step import Outcome
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.process import sweep
from moot.runner.flows import deeds, placing, stepping
from moot.runner.flows.cues import Came, Cue, Done, Due, Guide, Onward, Position
from moot.runner.flows.deeds import Deeds
from moot.runner.flows.hearing import Heard, Hearing
from moot.runner.flows.placing import Placing
from moot.runner.flows.stepping import Found
from moot.store import unbroken
from moot.store.store import Store

if TYPE_CHECKING:
    from moot.client.external import Surroundings
    from moot.runner.flows.servers import Servers

_LONGEST = 60.0
_HERE = "here"  # what was said in this process, and is in no inbox
_LOOK = 0.2  # seconds after which it looks whether it is to go on at all
_LINGER = 0.5  # seconds after which the job is given back, if nothing comes


class Means(Protocol):
    """What a flow is carried out with."""

    @property
    def deeds(self) -> Deeds: ...

    @property
    def around(self) -> Callable[[], "Surroundings"]: ...

    @property
    def stopping(self) -> asyncio.Event: ...


@dataclass(slots=True)
class _Deed:
    """Something that is being done, or was, for a strand as it was then."""

    strand: Strand
    task: "asyncio.Task[None]"
    outcome: Outcome | None = None

    def is_for(self, strand: Strand | None) -> bool:
        return strand is not None and strand.status == "doing" and _deed_of(strand) == _deed_of(self.strand)


def _deed_of(strand: Strand) -> tuple[int, int, int]:
    """What of a flow is done for a strand as it is now."""
    return strand.number, strand.since, strand.tries


@dataclass(slots=True)
class Holding:
    store: Store
    job: Job
    definition: Definition
    means: Means
    group: asyncio.TaskGroup
    signal: Signal
    guide: Guide
    hearing: Hearing
    _deeds: dict[int, _Deed] = field(default_factory=dict[int, _Deed])
    _inherited: set[tuple[int, int, int]] = field(default_factory=set[tuple[int, int, int]])
    _servers: "Servers | None" = None
    _looked_at: float = 0.0
    _told_at: float = 0.0  # when those who watch were woken for a mere move
    _foresight: Foresight = field(default_factory=Foresight)
    _place: Placing = field(init=False)

    def __post_init__(self) -> None:
        self._place = Placing(self.means.deeds.can_call, self.means.deeds.place)

    async def go(self) -> None:
        await self._recover()
        found = await self._look()
        while found.live.flow.is_live or found.waiting:
            if (heard := self.hearing.next()) is not None:
                found = await self._take_in(found, heard)
                continue
            change = await self._next(found)
            if change is None:
                if not await self._rest(found):
                    return
                if self.hearing.is_silent:
                    found = await self._look(found.live)
                continue
            done = await self._committed(found, change)
            if done is not None and self._may_go_on(change):
                found = replace(done, is_held=True) if found.is_held else done
            else:
                found = await self._look(None if done is None else done.live)

    def leave(self) -> None:
        """Nobody wants what is still being done."""
        self.guide.leave()
        self.hearing.close()
        for one in self._deeds.values():
            one.task.cancel()
        if self._servers is not None:
            self._servers.leave()

    async def _look(self, known: Live | None = None) -> Found:
        """What is known is read again only if somebody else has changed it."""
        self.signal.clear()
        self._looked_at = time.monotonic()
        id = FlowId(self.job.subject)
        return await self.store.read(lambda tx: stepping.look(tx, id, self.definition, known))

    async def _next(self, found: Found) -> Delta | None:
        if (foreseen := self._foresight.next(found.live)) is not None and self._is_idle(found):
            return foreseen
        cue = await self.guide.choose(found.live, found.waiting, self._cue(found))
        change = None if cue is None else await self._following(found, cue)
        if cue is not None and change is None:
            self.guide.nothing_came()
        return change

    def _cue(self, found: Found) -> Cue | None:
        live = found.live
        for number, one in self._deeds.items():
            if one.outcome is not None and one.is_for(live.strands.get(number)):
                return Done(number, one.outcome)
        if found.is_held:
            return None
        is_begun = live.flow.status != "starting"
        if found.waiting and is_begun and folding.is_ready(live, found.waiting[0]):
            return Came(found.waiting)
        if not live.flow.is_live or self.means.stopping.is_set():
            return None
        due = Driver(self.guide.evaluator, found.micros).due(live)
        return Onward() if due is None else Due(due.number)

    async def _following(self, found: Found, cue: Cue) -> Delta | None:
        driver, live = Driver(self.guide.evaluator, found.micros), found.live
        match cue:
            case Done():
                return await driver.finish(live, live.strands[cue.strand], cue.outcome)
            case Came():
                return await folding.take_in(driver, live, cue.submissions)
            case Due():
                return await driver.wake(live, live.strands[cue.strand])
            case Onward():
                return await self._onward(driver, live)

    def _is_idle(self, found: Found) -> bool:
        """Whether there is nothing else to go on from."""
        return not (found.waiting or found.is_held or self._deeds or self.means.stopping.is_set())

    async def _onward(self, driver: Driver, live: Live) -> Delta | None:
        change = await driver.next(live)
        if change is not None and not self.guide.is_asked:
            await self._foresight.look(driver, live, change)
        return change

    async def _committed(self, found: Found, change: Delta) -> Found | None:
        """None if somebody else has changed the flow, or it is not to go on; JobLost if somebody else has it now. What
        was done already is noted in any case."""
        live, place, is_quiet = found.live, self._place, self._is_told()

        def write(tx: Tx) -> tuple[Position | None, Found | None]:
            position = self.guide.position(tx, live.flow)
            if found.is_held:
                return position, stepping.commit(tx, live, change, stepping.later)
            return position, stepping.step(tx, live, change, place, is_quiet=is_quiet)

        def tell(written: tuple[Position | None, Found | None]) -> None:
            position, done = written
            if done is not None:
                self.guide.committed(live, change, done.live, position)

        # The run may be over with this, and its jobs are ended at once then: a recording has the last step, too.
        written = await unbroken.result(self.store.write(write, caller=SYSTEM), late=tell)
        tell(written)
        _, done = written
        if done is None:
            await self.store.write(lambda tx: jobs.guard(tx, self.job), caller=SYSTEM)
            return None
        self._foresight.committed(change, done.live)
        self._follow(live, change, done.live)
        return done

    async def _take_in(self, found: Found, heard: Heard) -> Found:
        """What was said here, and what else there is then. Only what is seen to be committed is followed: the call may
        turn out to have been made before."""
        try:
            change = await self._following_from(found, heard.word)
            if change is None or "error" in change.answers[_HERE]:
                return await self._look(found.live)
            told = replace(change, answers={})  # whoever has said it hears it
            done = await heard.keep(change.answers[_HERE], partial(self._committed_first, found.live, told))
        finally:
            heard.end()
        after = await self._look(done or found.live)
        if done is not None:
            self._follow(found.live, change, after.live)
        return after

    async def _following_from(self, found: Found, word: Word) -> Delta | None:
        """None if it has to be left in the store, behind what is there."""
        live, said = found.live, Submission(_HERE, word.strand, "complete", word.body)
        is_current = live.flow.version == word.version and live.flow.is_live and not found.waiting
        if not is_current or found.is_held or self.means.stopping.is_set() or not folding.is_ready(live, said):
            return None
        return await folding.take_in(Driver(self.guide.evaluator, clock.to_micros(word.at)), live, (said,))

    def _committed_first(self, live: Live, change: Delta, tx: Tx) -> Live | None:
        """None if anything has come before it."""
        done = stepping.step(tx, live, change, self._place)
        return None if done is None or not inbox.is_empty(tx, live.flow.id) else done.live

    def _follow(self, before: Live, change: Delta, after: Live) -> None:
        """Begin what is to be done outside the store, and end what nobody wants any more."""
        self._drop(after)
        for one in change.strands:
            if (strand := after.strands.get(one.number)) is not None:
                self._forget(before.strands.get(one.number), strand)
                self._begin(after, strand)

    def _is_told(self) -> bool:
        """Whether those who watch were woken lately. (Which wakes this one, too: it would look at each step.)"""
        now = time.monotonic()
        if now < self._told_at + _LOOK:
            return True
        self._told_at = now
        return False

    def _may_go_on(self, change: Delta) -> bool:
        """Whether nothing can have come but what was committed here."""
        is_lately = time.monotonic() < self._looked_at + _LOOK
        return change.is_mere_move and is_lately and not self.signal.is_rung

    def _forget(self, before: Strand | None, after: Strand) -> None:
        """What came of it is on record."""
        if before is None or before.work is None or before.work.type not in placing.DEEDS:
            return
        is_inherited = _deed_of(before) in self._inherited  # whoever had it may wake up, and must find its mark
        if not is_inherited and (after.work is None or _deed_of(before) != _deed_of(after)):
            self.means.deeds.forget(before)

    def _drop(self, live: Live) -> None:
        """End what nobody wants any more."""
        if not self._deeds:
            return
        for number, one in list(self._deeds.items()):
            if not one.is_for(live.strands.get(number) if live.flow.is_live else None):
                one.task.cancel()
                del self._deeds[number]

    def _begin(self, live: Live, strand: Strand) -> None:
        if strand.status == "doing" and strand.number not in self._deeds and live.flow.is_live:
            task = self.group.create_task(self._do(live, strand))
            self._deeds[strand.number] = _Deed(strand, task)

    async def _do(self, live: Live, strand: Strand) -> None:
        """Only if the job is still ours, which may have been lost since the commit: what is done cannot be refused."""
        if not await self.store.read(lambda tx: jobs.is_owned(tx, self.job)):
            return
        outcome = await self.means.deeds.do(live.flow, strand, self._connected)
        found = self._deeds.get(strand.number)
        if found is None or found.strand != strand:
            return
        if outcome is None:
            del self._deeds[strand.number]
            with contextlib.suppress(JobLost):
                await self._ask_what_became(found)
        found.outcome = outcome
        self.signal.ring()

    async def _ask_what_became(self, deed: _Deed) -> None:
        """Somebody else, who had this before, has begun it after all."""
        is_asked = False
        while not is_asked:
            live = await self.store.read(lambda tx: delta.load(tx, deed.strand.flow, self.definition))
            if not live.flow.is_live or not deed.is_for(live.strands.get(deed.strand.number)):
                return
            is_asked = await self._is_asked(live, Delta(strands=(replace(deed.strand, status="given"),)))

    async def _recover(self) -> None:
        """What was being done by whoever had this before: again, if that does nothing twice; else somebody is asked."""
        while True:
            live = (await self._look()).live
            doing = [one for one in live.strands.values() if one.status == "doing" and live.flow.is_live]
            for strand in doing:
                await asyncio.to_thread(sweep.kill_marked, deeds.marker(strand))
            repeated = [one for one in doing if self.means.deeds.is_repeatable(one)]
            lost = tuple(replace(one, status="given") for one in doing if one not in repeated)
            if not lost or await self._is_asked(live, Delta(strands=lost)):
                break
        for strand in repeated:
            self._inherited.add(_deed_of(strand))
            self._begin(live, strand)

    async def _is_asked(self, live: Live, change: Delta) -> bool:
        """False if somebody else has changed the flow meanwhile; JobLost if somebody else has it now."""

        def ask(tx: Tx) -> bool:
            done = stepping.commit(tx, live, change, placing.ask_what_became)
            jobs.guard(tx, self.job)
            return done is not None

        return await self.store.write(ask, caller=SYSTEM)

    def _connected(self) -> "Servers":
        from moot.runner.flows.servers import Servers  # noqa: PLC0415  # brings the whole MCP library along

        if self._servers is None:
            self._servers = Servers(self.means.around(), self.group)
        return self._servers

    async def _rest(self, found: Found) -> bool:
        """Until something comes; False if nothing does for a while, and nothing is being done here."""
        waiting = (one for one in found.live.strands.values() if one.status == "waiting")
        moments = [one.wakes_at for one in waiting if one.wakes_at is not None]
        seconds = min([(one - found.now).total_seconds() for one in moments], default=_LONGEST)
        if self._deeds:
            await self.signal.wait(max(seconds, 0))
            return True
        if self.means.stopping.is_set() or found.is_held:
            return False
        return await self.signal.wait(min(max(seconds, 0), _LINGER)) or seconds <= _LINGER
