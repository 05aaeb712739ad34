"""Conducting: who has their turn, and what is done when nobody comes.

The conductor lets attempts begin when it is their turn, so that they are handed the same mail, and plays what those did
whom moot does not start. What moot has to say by itself it waits for. It waits for no time: when nothing goes on any
more, the next timer of the run is due; without one, what was to come does not come any more, which is a drift, and it
goes on with what follows. So a replay always ends.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from moot.core.caller import SYSTEM, Caller, Role
from moot.core.errors import MootError
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.registry import agents, runs
from moot.registry.runs import Run
from moot.runner import endings, handing_out, lookout, phases, purses, refusals
from moot.runner.refusals import Reached
from moot.store import feed
from moot.store.store import Store
from moot.taping.flow_lines import Moved
from moot.taping.replaying import acts, channel_likeness, gates, notes, score
from moot.taping.replaying.conducting_flows import FlowConductor
from moot.taping.replaying.performance import Performance
from moot.taping.replaying.score import Note
from moot.taping.replaying.turns import first_of
from moot.taping.tape import Begin, Call, End, Happened, Limit, More, Progress, Read, Said
from moot.tools import advancing

T = TypeVar("T")
_MOMENTS = 200  # turns of the loop in which whoever can go on without the store has come to where it waits


class Conductor:
    """Gives everybody their turn while the run is attended."""

    def __init__(self, performance: Performance, store: Store, run: Run) -> None:
        self._performance = performance
        self._turns = performance.turns
        self._store = store
        self._run = run
        self._is_over = False  # all is played
        self._flows = FlowConductor(performance, store, run)

    async def conduct(self) -> None:
        with self._store.listen() as signal:
            while True:
                signal.clear()
                self._turns.bell.clear()
                current = self._turns.current
                if await self._play(current) or self._turns.current is not current:
                    continue
                if await self._is_still(current) and await self._help(current):
                    continue
                if self._turns.current is current:
                    await first_of(signal.wait(), self._turns.bell.wait(), self._turns.moved())

    async def _play(self, note: Note | None) -> bool:
        """Play what is nobody's part; False if others have to come."""
        match note:
            case None:
                await self._release(None)
                return False
            case Begin():
                await self._release(note)
                return False
            case End():
                await self._interrupt(note)
                await self._release(note)
                return False
            case Said() if score.is_moot(note):
                is_played = await self._hear(note)
            case Said():
                is_played = await self._act(note)
            case Happened() | Read():
                is_played = await self._act(note)
            case More():
                return await self._hand_out(note)
            case Moved():
                await self._flows.rouse(note)
                return False
            case Call() if note.attempt is None and note.flow is None:
                await notes.perform(self._performance, note, await self._store.read(lambda tx: self._caller(tx, note)))
                is_played = True
            case _:
                return False
        if is_played:
            self._turns.done(note)
        return is_played

    async def _hand_out(self, note: More) -> bool:
        """To sessions at work: what they are told of it, and when, is on the tape."""
        part = self._performance.session_of(note)
        if part is None:
            return False
        async with part.mail:
            if not part.is_session:
                return False
            try:
                await notes.hand_out(self._performance, part, note)
            except MootError:  # the attempt is over a moment before it is here
                return False
            self._turns.done(note)
        return True

    async def _release(self, note: Note | None) -> None:
        """Who was put off for this may go on. When all is played everybody may, though the recording does not have it,
        and whoever has waited for the end of the play looks again."""
        wakes = note is None and not self._is_over and not self._performance.is_cut
        self._is_over = self._is_over or wakes
        await self._write(partial(gates.release, performance=self._performance, run=self._run, note=note, wakes=wakes))

    async def _interrupt(self, note: End) -> None:
        """Somebody has ended what an agent was doing; at a limit moot does, in time."""
        if self._performance.score.interrupted.get(note.attempt, "system") != "system":
            await self._cut_off(note)

    async def _cut_off(self, note: End) -> bool:
        name = self._performance.score.agents.get(note.attempt, "")
        return await self._write(partial(_restart, run=self._run, name=name))

    async def _hear(self, said: Said) -> bool:
        """Whether moot has said it: as often as in the recording up to here. A limit is reached where that was told,
        whoever has used most of it by now."""
        count = sum(1 for one in self._performance.score.channel if score.is_moot(one) and one.seq <= said.seq)
        if await self._store.read(lambda tx: channel_likeness.count_of_moot(tx, self._run)) >= count:
            return True
        if said.limit is not None and await self._write(partial(_reach, run=self._run, limit=said.limit)):
            return True
        if self._performance.ungiven is not said and await self._write(partial(_give, run=self._run, said=said)):
            return True
        await self._release(said)
        return False

    async def _act(self, note: Said | Happened | Read) -> bool:
        performance, run = self._performance, self._run

        def change(tx: Tx) -> None:
            match note:
                case Said():
                    acts.say(tx, run, note, performance)
                case Happened():
                    acts.do(tx, run, note, performance.likeness)
                case Read():
                    acts.read(tx, run, note, performance.plain)

        try:
            await self._store.write(change, caller=await self._store.read(lambda tx: self._actor(tx, note)))
        except MootError as error:
            who = note.agent if isinstance(note, Read) else note.actor
            performance.drifts.refused(who, acts.WORDS.get(getattr(note, "kind", ""), "a message"), str(error))
        return True

    def _actor(self, tx: ReadTx, note: Said | Happened | Read) -> Caller:
        name = note.agent if isinstance(note, Read) else note.actor
        found = agents.find(tx, self._run.stream, name)
        role: Role = found.role if found else "system"
        return Caller(name, role, self._run.instance, found.id if found else None)

    def _caller(self, tx: ReadTx, note: Call) -> Caller:
        agent = agents.find(tx, self._run.stream, note.caller)
        is_operator = note.role == "operator"
        return Caller(note.caller, note.role, self._run.instance, agent.id if agent and not is_operator else None)

    async def _is_still(self, note: Note | None) -> bool:
        """Whether nothing goes on any more but timers, and attempts that wait for others."""

        def look(tx: ReadTx) -> bool:
            if feed.has_news(tx, self._run.stream) or runs.get(tx, self._run.id).state != "live":
                return False
            if self._flows.goes_on(tx, note):
                return False
            return all(self._is_waiting(tx, job, note) for job in jobs.live(tx, self._run.stream))

        if self._performance.is_busy() or not await self._store.read(look):
            return False
        # Whoever has just been answered looks at the store, too: look behind it, or it would be taken for stuck.
        moves = self._performance.moves
        await self._store.read(lambda tx: None)
        for _ in range(_MOMENTS):
            await asyncio.sleep(0)
        is_answered = any(held.done() for part in self._performance.holding() for _, held in part.held.values())
        has_moved = self._performance.moves != moves or self._performance.is_busy()
        return self._turns.current is note and not has_moved and not is_answered

    def _is_waiting(self, tx: ReadTx, job: Job, note: Note | None) -> bool:
        """What was put off at this moment has not heard yet that it is its turn."""
        if job.kind == advancing.ADVANCE:
            return self._flows.is_waiting(tx, job)
        if gates.is_put_off(tx, job):
            return not gates.is_turn_of(self._performance, tx, job, note)
        return gates.is_timer(tx, job) or self._performance.is_waiting(job.id)

    async def _help(self, note: Note | None) -> bool:
        """Nobody comes. True if something was done about it."""
        if note is None:
            return await self._come_to_an_end()
        return await (self._flows.help(note) if isinstance(note, Moved) else self._help_on(note))

    async def _help_on(self, note: Note) -> bool:
        drifts = self._performance.drifts
        if score.is_of_model(note) or isinstance(note, Progress):
            self._turns.leave_out([note])
            return True
        if score.is_moot(note) and await self._write(partial(_begin_tasks, run=self._run)):
            return True
        if isinstance(note, Said) and handing_out.given(note.body) and self._performance.ungiven is not note:
            self._performance.ungiven = note
            return True
        kinds = gates.jobs_behind(self._performance, note)
        if await self._write(partial(gates.hurry_next, run=self._run, kinds=kinds)) or await self._flows.hurry():
            return True
        for part in self._performance.holding():
            for _, held in part.held.values():
                held.cancel()
            if part.held:
                return True
        if self._performance.is_busy():
            return True  # somebody came after all
        if isinstance(note, End) and await self._cut_off(note):
            return True
        if isinstance(note, Begin):
            drifts.unwoken(note)
            self._performance.leave_out(note.attempt)
        else:  # whether moot said all that it had to is seen in the channel
            self._turns.leave_out([note])
        return True

    async def _come_to_an_end(self) -> bool:
        """All is played, and the run goes on: who attends it ends it, unless it waits for somebody who never comes."""
        performance = self._performance
        if performance.is_cut:
            performance.drifts.add(
                "the recording was cut here, before the run had ended: moot was killed, or the file was full"
            )
            await self._close("the recording was cut")
            performance.over.set()
            return True
        look = await self._store.read(lambda tx: lookout.look(tx, self._run.id))
        if (look.is_idle and not look.run.is_paused) or look.limit is not None:
            return False
        expiries = partial(gates.hurry_next, run=self._run, kinds=gates.EXPIRIES)
        if await self._write(expiries) or await self._flows.hurry():
            return True
        names = ", ".join(agent.name for agent in look.outside) or "something"
        performance.drifts.add(f"the run waits for {names}, and the recording has nothing more")
        await self._close(f"waits for {names}")
        return True

    async def _close(self, reason: str) -> None:
        await self._write(lambda tx: phases.close(tx, self._run.id, "interrupted", reason))

    async def _write(self, change: Callable[[Tx], T]) -> T:
        return await self._store.write(change, caller=SYSTEM)


def _begin_tasks(tx: Tx, run: Run) -> bool:
    """Moot was to say something, and the talk is quiet: the tasks have begun then."""
    found = runs.get(tx, run.id)
    return found.phase == "talk" and phases.begin_tasks(tx, found)


def _reach(tx: Tx, run: Run, limit: Limit) -> bool:
    """False if there is no such limit."""
    if not limit.agent:
        return refusals.reach(tx, purses.of_run(run), limit.reason)
    agent = agents.find(tx, run.stream, limit.agent)
    return agent is not None and refusals.reach_all(tx, agent, run, Reached(by_agent=limit.reason))


def _give(tx: Tx, run: Run, said: Said) -> bool:
    """The task that was handed out with these words, to the same. Who chose it then had not seen all that was done by
    the time it spoke, and would choose otherwise now."""
    name = handing_out.given(said.body) if said.kind == "task" else None
    found = [agents.find(tx, run.stream, one) for one in said.to]
    return name is not None and any(one is not None and handing_out.give(tx, run, name, one) for one in found)


def _restart(tx: Tx, run: Run, name: str) -> bool:
    agent = agents.find(tx, run.stream, name)
    return agent is not None and endings.restart(tx, agent)
