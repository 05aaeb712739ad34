"""A performance: what those who play one recording together share, and who of them does what."""

import asyncio
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field

from moot.backends.backend import Briefing
from moot.core.ids import AttemptId, InstanceName, JobId
from moot.core.library import Library, NoLibrary
from moot.core.tool import ToolAnswer
from moot.runner.begun import Begun
from moot.store.store import Store
from moot.taping.hiding import Hiding
from moot.taping.replaying import exchanges, likeness, score
from moot.taping.replaying.drifts import Drifts
from moot.taping.replaying.flow_parts import FlowParts
from moot.taping.replaying.likeness import Likeness
from moot.taping.replaying.score import Note, Score
from moot.taping.replaying.turns import Turns
from moot.taping.tape import Begin, Call, More, Tape
from moot.tools.toolbox import DeliveryKeys

Held = dict[int, tuple[Call, "asyncio.Task[ToolAnswer]"]]


@dataclass(slots=True)
class Part:
    """An attempt that is being played."""

    begun: Begun
    begin: Begin | None  # None: the recording does not have it
    keys: DeliveryKeys = field(default_factory=DeliveryKeys)
    awaits: list[Note] = field(default_factory=list[Note])  # whose turn it is to be
    held: Held = field(default_factory=Held)  # calls that wait for somebody's answer, by their place on the tape
    answers: dict[int, ToolAnswer] = field(default_factory=dict[int, ToolAnswer])  # by the id of a call's note
    holds: int = 0  # how many in it do not go on before they are answered
    works: int = 0  # how many in it do something for which nobody else is needed
    is_done: asyncio.Event = field(default_factory=asyncio.Event)  # by one of them
    moves: int = 0  # grows with everything that is done in it
    is_session: bool = False  # it is a tree of sessions at work
    mail: asyncio.Lock = field(default_factory=asyncio.Lock)  # of whoever hands out mail to these

    @contextmanager
    def awaiting(self, note: Note) -> Generator[None]:
        self.moves += 1
        self.awaits.append(note)
        try:
            yield
        finally:
            self.awaits.remove(note)

    @contextmanager
    def holding(self) -> Generator[None]:
        self.moves += 1
        self.holds += 1
        try:
            yield
        finally:
            self.holds -= 1

    @contextmanager
    def working(self) -> Generator[None]:
        self.moves += 1
        self.works += 1
        try:
            yield
        finally:
            self.works -= 1
            self.moves += 1
            self.is_done.set()


class Performance:
    """One recorded run, played in one instance."""

    def __init__(self, tape: Tape, instance: InstanceName) -> None:
        self.tape = tape
        self.instance = instance
        self.score: Score = score.compose(tape)
        self.exchanges = exchanges.compose(tape, self.score)
        self.turns = Turns(self.score.notes)
        self.likeness = Likeness()
        self.hiding = Hiding(os.environ)
        self.drifts = Drifts()
        self.flows = FlowParts(tape, self.score, self.turns, self.drifts, self.likeness)
        self.library: Library = NoLibrary()  # of definitions, for whoever begins a flow
        self.store: asyncio.Future[Store] = asyncio.get_running_loop().create_future()
        self.parts: dict[AttemptId, Part] = {}
        self.jobs: dict[JobId, Part] = {}
        self.outside: Held = {}  # calls of those whom moot does not start, that wait for a flow
        self.ungiven: Note | None = None  # a task that cannot be handed out as it was: moot chooses itself
        self.over = asyncio.Event()  # the recording was cut, and all that it has is played

    @property
    def is_cut(self) -> bool:
        """Whether the recording ends before the run did."""
        return self.tape.outcome is None

    def begins(self, begun: Begun) -> None:
        """An attempt has its mail: the next in the score may go on."""
        current = self.turns.current
        begin = current if isinstance(current, Begin) and current.agent == begun.agent.name else None
        part = Part(begun, begin)
        self.parts[begun.attempt] = self.jobs[begun.job.id] = part
        if begin is not None:
            self.turns.done(begin)

    def settled(self, job: JobId) -> None:
        """What came of an attempt is in the store: its last note is played."""
        part = self.jobs.pop(job, None)
        if part is not None and part.begin is not None:
            self.leave_out(part.begin.attempt)

    def leave_out(self, attempt: str) -> None:
        self.turns.leave_out(self.score.of_attempt(attempt))

    def is_waiting(self, job: JobId) -> bool:
        """Whether an attempt under way waits for others."""
        return job in self.jobs and self._waits(self.jobs[job])

    def is_busy(self) -> bool:
        """Whether an attempt goes on, or a flow; its job may be over in the store a moment before it is here."""
        return not all(self._waits(part) for part in self.jobs.values()) or self.flows.is_busy()

    def _waits(self, part: Part) -> bool:
        """For its turn, for an answer, or for the end. Of several in it some may do neither: they wait for each other,
        or come in a moment."""
        if part.works or any(one is self.turns.current for one in part.awaits):
            return False
        return bool(part.awaits or part.holds)

    @property
    def moves(self) -> int:
        return sum(part.moves for part in self.jobs.values()) + self.flows.moves

    def session_of(self, note: More) -> Part | None:
        """The sessions that are at work and to which this was handed out, if nobody had asked for it."""
        at_work = [part for part in self.jobs.values() if part.is_session and part.begin is not None]
        found = next((one for one in at_work if one.begin and one.begin.attempt == note.attempt), None)
        return found if note.call is None else None

    def plain(self, text: str) -> str:
        """What can be compared with the tape: without names of instances, and hidden is here what is hidden there."""
        return likeness.unnamed(str(self.hiding.hidden(text)), (self.tape.header.instance, self.instance))

    def compare_briefing(self, agent: str, recorded: Briefing, now: Briefing) -> None:
        before, after = (Briefing(self.plain(one.prompt), self.plain(one.system_prompt)) for one in (recorded, now))
        self.drifts.compare_briefing(agent, before, after)

    def holding(self) -> Iterable[Part]:
        return [part for part in self.jobs.values() if part.holds]
