"""Replaying: the attempts of a recorded run are played again through the tools, each call in its turn, without any of
the backends that made them. Where the workflow has drifted away from the recording, that is noted and the play goes on.

An attempt is begun only in its turn, so that it is handed the same mail; until then its job is put off. Nothing here
waits for a time: who cannot come any more is known by what is left to do in the store.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, cast, get_args

from moot.backends import backend as contract
from moot.backends.backend import Assignment, Backend, Called, Ended, Failure, Usage, Warned, Wrote
from moot.bus import mailbox
from moot.bus.messages import Kind
from moot.core.caller import SYSTEM, Caller, Role
from moot.core.ids import AgentId, AttemptId, InstanceName, JobId
from moot.core.tool import ToolAnswer
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.ledger.operations import Key
from moot.registry import agents, instances
from moot.registry.runs import Run
from moot.runner import channel_likeness, limits, score
from moot.runner.begun import Begun, Equip, Kit
from moot.runner.likeness import Likeness, lasting
from moot.runner.reactions.wake_agents import ATTEMPT, attempt_key
from moot.runner.score import Note, Score
from moot.runner.setup import SetupFailed, SetupWorker
from moot.runner.tape import Begin, Call, End, Letter, More, Progress, Said, Tape
from moot.runner.turns import Turns
from moot.runner.worker import Task, Worker
from moot.store import feed
from moot.store.store import Store
from moot.tools import dispatch, talk
from moot.tools.talk import Words
from moot.tools.toolbox import DeliveryKeys
from moot.tools.witness import Heard
from moot.workflow import workflow
from moot.workflow.workflow import Workflow

_PUT_OFF = timedelta(hours=24)
_MAIL = 1000  # messages of a person
_SHOWN = 80  # characters of a text in what is told


@dataclass(slots=True)
class _Part:
    """An attempt that is being played."""

    begun: Begun
    begin: Begin | None  # None: the recording does not have it
    keys: DeliveryKeys = field(default_factory=DeliveryKeys)
    awaits: Note | None = None  # whose turn it is to be


class Player:
    """Plays one recorded run in one instance. What else its host does is left alone."""

    def __init__(self, tape: Tape, instance: InstanceName, played: Workflow) -> None:
        self._tape = tape
        self._score: Score = score.compose(tape)
        self._instance = instance
        self._turns = Turns(self._score.notes)
        self._likeness = Likeness()
        self._parts: dict[AttemptId, _Part] = {}
        self._jobs: dict[JobId, _Part] = {}
        self._store: asyncio.Future[Store] = asyncio.get_running_loop().create_future()
        self.drifts: list[str] = []
        self._compare_setup(played)

    def is_playing(self) -> bool:
        """Whether people, who are part of the recording, may still say something."""
        return self._turns.current is not None

    def backends(self, found: Mapping[str, Backend]) -> Mapping[str, Backend]:
        names = cast(tuple[str, ...], get_args(workflow.Backend))
        return {name: _Replayed(found.get(name), self) for name in names}

    def equip(self, equip: Equip) -> Equip:
        @asynccontextmanager
        async def equipped(begun: Begun) -> AsyncGenerator[Kit]:
            if begun.agent.instance == self._instance:
                self._begins(begun)
            async with equip(begun) as kit:
                yield kit

        return equipped

    def attempts(self, worker: Worker) -> Worker:
        return _InTurn(worker, self)

    def setup(self, worker: SetupWorker) -> Worker:
        return replace(worker, recall=self._recall)

    def heard(self, heard: Heard) -> None:
        """Nobody calls but this one."""

    def is_about(self, instance: str) -> bool:
        return instance == self._instance

    def may_begin(self, name: str) -> bool:
        """Asked inside a transaction."""
        current = self._turns.current
        return current is None or (isinstance(current, Begin) and current.agent == name)

    @asynccontextmanager
    async def conducting(self, store: Store, run: Run) -> AsyncGenerator[None]:
        """While the run goes on, give everybody their turn."""
        self._store.set_result(store)
        async with asyncio.TaskGroup() as group:
            conducting = group.create_task(self._conduct(store, run))
            try:
                yield
            finally:
                conducting.cancel()

    async def finish(self, store: Store, run: Run, exit_code: int) -> None:
        """The run is over: what was not played, and what came out otherwise."""
        for note in self._turns.left:
            if isinstance(note, Begin):
                self._drift(f"{note.agent} was not woken by {_quoted(note.mail)}, as it was in the recording")
        self.drifts += await channel_likeness.compare(store, run, self._score.channel)
        outcome = self._tape.outcome
        if exit_code != outcome.exit_code:
            self._drift(f"the run ended with exit code {exit_code} instead of {outcome.exit_code}")

    def _drift(self, fact: str) -> None:
        if fact not in self.drifts:
            self.drifts.append(fact)

    def _begins(self, begun: Begun) -> None:
        """An attempt has its mail: the next in the score may go on."""
        current = self._turns.current
        begin = current if isinstance(current, Begin) and current.agent == begun.agent.name else None
        part = _Part(begun, begin)
        self._parts[begun.attempt] = self._jobs[begun.job.id] = part
        if begin is not None:
            self._turns.done(begin)

    async def play(self, assignment: Assignment) -> AsyncIterator[contract.Progress]:
        part = self._parts[assignment.attempt]
        if part.begin is None:
            self._drift(
                f"{assignment.agent} was woken by {_quoted(assignment.inbox)}, which the recording does not have"
            )
            yield Ended()
            return
        attempt = part.begin.attempt
        self._compare_mail(part.begin.agent, part.begin.mail, assignment.inbox)
        for progress in self._score.progress.get(attempt, ()):
            yield _progress(progress)
        for note in [one for one in self._score.notes if getattr(one, "attempt", None) == attempt]:
            if isinstance(note, Begin):
                continue
            await self._turn(part, note)
            if isinstance(note, End):
                yield self._ended(note)
                return
            await self._do(part, note, assignment)
            self._turns.done(note)
        self._drift(f"the recording does not say how an attempt of {assignment.agent} ended")
        yield Ended("no_result", "the recording does not say how it ended")

    async def _turn(self, part: _Part, note: Note) -> None:
        part.awaits = note
        self._turns.bell.set()
        await self._turns.of(note)
        part.awaits = None

    async def _do(self, part: _Part, note: Note, assignment: Assignment) -> None:
        match note:
            case Call():
                await self._call(note, part.begun.caller, part)
            case More():
                self._compare_mail(assignment.agent, note.mail, await assignment.more())
            case _:
                pass

    async def _call(self, note: Call, caller: Caller, part: _Part | None) -> None:
        arguments = cast(Mapping[str, Any], self._likeness.translate(note.arguments))
        key = None
        if note.is_keyed and part is not None:
            key = Key(part.begun.job.id, part.keys.draw(note.tool, arguments))
        answer = await dispatch.perform(await self._store, caller, note.tool, arguments, key)
        self._likeness.learn([note.structured, note.text], [dict(answer.structured), answer.text])
        self._compare_answer(note, answer)

    def _compare_answer(self, note: Call, answer: ToolAnswer) -> None:
        if answer.is_error and not note.is_error:
            self._drift(f"{note.caller}: {note.tool} is refused now: {answer.text[:_SHOWN]}")
        elif note.is_error and not answer.is_error:
            self._drift(f"{note.caller}: {note.tool} was refused in the recording, and is not any more")

    def _compare_mail(self, agent: str, recorded: tuple[Letter, ...], now: tuple[contract.Letter, ...]) -> None:
        for old, new in zip(recorded, now, strict=False):
            self._likeness.learn([old.id, old.body], [new.id, new.body])
        before = [(one.sender, lasting(one.body)) for one in recorded]
        if before != [(one.sender, lasting(one.body)) for one in now]:
            self._drift(f"the mail of {agent} differs: {_quoted(now)} instead of {_quoted(recorded)}")

    def _compare_setup(self, played: Workflow) -> None:
        for old, new in zip(self._tape.header.setup, (one.shell for one in played.setup), strict=False):
            if old != new:
                self._drift(f"the setup command `{new[:_SHOWN]}` was `{old[:_SHOWN]}` in the recording")
        if len(self._tape.header.setup) != len(played.setup):
            self._drift(f"there are {len(played.setup)} setup commands instead of {len(self._tape.header.setup)}")

    def _recall(self, number: int) -> str:
        outputs = self._tape.outcome.outputs
        if number < len(outputs):
            return outputs[number]
        raise SetupFailed(self._tape.outcome.failure or "The recording has no output of this setup command.")

    def _ended(self, note: End) -> Ended:
        error = note.error
        if note.how == "cancelled":
            if note.attempt in self._score.interrupted:
                self._drift("the recording was interrupted while an attempt ran")
            error = self._score.errors.get(note.attempt, "it was cut short in the recording")
            return Ended("timeout", error)
        failure = cast(Failure | None, note.failure)
        return Ended(failure, error, self._likeness.translate(note.text), Usage(**note.usage))

    def settled(self, job: JobId) -> None:
        """What came of an attempt is in the store: its last note is played."""
        part = self._jobs.pop(job, None)
        if part is None or part.begin is None:
            return
        attempt = part.begin.attempt
        self._turns.leave_out([one for one in self._score.notes if getattr(one, "attempt", None) == attempt])

    async def _conduct(self, store: Store, run: Run) -> None:
        with store.listen() as signal:
            while True:
                signal.clear()
                self._turns.bell.clear()
                current = self._turns.current
                if current is None:
                    await store.write(partial(_release_all, run=run), caller=SYSTEM)
                    return
                if isinstance(current, Begin):
                    await store.write(partial(_release, run=run, name=current.agent), caller=SYSTEM)
                elif getattr(current, "attempt", None) is None and await self._from_outside(store, run, current):
                    continue
                if await store.read(lambda tx: self._is_stuck(tx, run)) and self._turns.current is current:
                    self._skip(current)
                    continue
                if self._turns.current is current:
                    await _first(signal.wait(), self._turns.bell.wait(), self._turns.moved())

    async def _from_outside(self, store: Store, run: Run, note: Note) -> bool:
        """Play what somebody did whom moot does not start; False if it was moot itself, who has to come by herself."""
        if score.is_moot(note):
            said = cast(Said, note)
            count = sum(1 for one in self._score.channel if score.is_moot(one) and one.seq <= said.seq)
            if await store.read(lambda tx: channel_likeness.count_of_moot(tx, run)) < count:
                return False
        elif isinstance(note, Said):
            await store.write(lambda tx: self._say(tx, note), caller=SYSTEM)
        elif isinstance(note, Call):
            await self._call(note, await store.read(lambda tx: self._caller(tx, run, note)), None)
        self._turns.done(note)
        return True

    def _say(self, tx: Tx, note: Said) -> None:
        instance = instances.get(tx, self._instance)
        speaker = agents.find(tx, instance.stream, note.sender) or agents.person(tx, instance)
        body = self._likeness.translate(note.body)
        if speaker.backend == "human":
            for mail in mailbox.unread(tx, speaker.id, _MAIL):  # who answers has read what was there
                mailbox.ack_one(tx, speaker.id, mail.seq)
        talk.say(tx, instance, speaker, Words(body, to=note.to, kind=cast(Kind, note.kind)))

    def _caller(self, tx: ReadTx, run: Run, note: Call) -> Caller:
        agent = agents.find(tx, run.stream, note.caller)
        return Caller(note.caller, cast(Role, note.role), self._instance, agent.id if agent else None)

    def _is_stuck(self, tx: ReadTx, run: Run) -> bool:
        """Whether nothing goes on any more but attempts that wait for their turn."""
        if feed.has_news(tx, run.stream):
            return False
        for job in jobs.live(tx, run.stream):
            part = self._jobs.get(job.id)
            is_waiting = part is not None and part.awaits not in (None, self._turns.current)
            is_put_off = job.kind == ATTEMPT and job.state == "queued" and job.run_at - tx.now > _PUT_OFF / 2
            if job.kind != limits.TIME and not is_waiting and not is_put_off:
                return False
        return True

    def _skip(self, note: Note) -> None:
        """It does not come any more. (Whether moot said all that it had to is seen in the channel.)"""
        if isinstance(note, Begin):
            self._drift(f"{note.agent} was not woken by {_quoted(note.mail)}, as it was in the recording")
            gone = [one for one in self._score.notes if getattr(one, "attempt", None) == note.attempt]
            self._turns.leave_out(gone)
        else:
            self._turns.leave_out([note])


class _Replayed:
    """In place of a backend."""

    def __init__(self, backend: Backend | None, player: Player) -> None:
        self._backend = backend  # for other instances
        self._player = player

    async def run(self, assignment: Assignment) -> AsyncIterator[contract.Progress]:
        is_ours = self._player.is_about(assignment.instance)
        if not is_ours and self._backend is None:
            yield Ended("error", "this host does not have its backend")
            return
        pieces = self._player.play(assignment) if is_ours or self._backend is None else self._backend.run(assignment)
        async for progress in pieces:
            yield progress


class _InTurn:
    """Begins attempts in their turn only."""

    def __init__(self, worker: Worker, player: Player) -> None:
        self._worker = worker
        self._player = player

    def begin(self, tx: Tx, job: Job) -> Task | None:
        agent = agents.get(tx, AgentId(job.subject))
        if not self._player.is_about(agent.instance):
            return self._worker.begin(tx, job)
        if not self._player.may_begin(agent.name):
            jobs.postpone(tx, job, tx.now + _PUT_OFF)
            return None
        task = self._worker.begin(tx, job)
        if task is None:
            return None

        async def played() -> None:
            try:
                await task()
            finally:
                self._player.settled(job.id)

        return played

    def late(self, tx: Tx, job: Job) -> None:
        self._worker.late(tx, job)

    def lost(self, tx: Tx, job: Job) -> None:
        self._worker.lost(tx, job)


def _release(tx: Tx, run: Run, name: str) -> None:
    agent = agents.find(tx, run.stream, name)
    if agent is not None:
        jobs.hurry(tx, attempt_key(agent))


def _release_all(tx: Tx, run: Run) -> None:
    """All is played: who was put off may begin, though the recording does not have it."""
    for agent in agents.members(tx, run.stream):
        jobs.hurry(tx, attempt_key(agent))
    tx.wake()  # nobody has to be waited for any more


async def _first(*waits: Any) -> None:
    """Until one of them is over."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _progress(line: Progress) -> contract.Progress:
    match line.kind:
        case "wrote":
            return Wrote(line.text)
        case "called":
            return Called(line.text, line.is_error)
        case "warned":
            return Warned(line.text)
        case "used":
            return Usage(**line.usage)


def _quoted(mail: tuple[Letter, ...] | tuple[contract.Letter, ...]) -> str:
    return ", ".join(f"{one.sender}: {' '.join(one.body.split())[:_SHOWN]!r}" for one in mail) or "no mail"
