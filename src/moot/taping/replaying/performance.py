"""A performance: what those who play one recording together share, and who of them does what."""

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from moot.backends.backend import Briefing
from moot.core.ids import AttemptId, InstanceName, JobId
from moot.core.tool import ToolAnswer
from moot.runner.begun import Begun
from moot.store.store import Store
from moot.taping.hiding import Hiding
from moot.taping.replaying import exchanges, likeness, score
from moot.taping.replaying.drifts import Drifts
from moot.taping.replaying.likeness import Likeness
from moot.taping.replaying.score import Note, Score
from moot.taping.replaying.turns import Turns
from moot.taping.tape import Begin, Call, Tape
from moot.tools.toolbox import DeliveryKeys

Held = dict[int, tuple[Call, "asyncio.Task[ToolAnswer]"]]


@dataclass(slots=True)
class Part:
    """An attempt that is being played."""

    begun: Begun
    begin: Begin | None  # None: the recording does not have it
    keys: DeliveryKeys = field(default_factory=DeliveryKeys)
    awaits: Note | None = None  # whose turn it is to be
    held: Held = field(default_factory=Held)  # calls that wait for somebody's answer, by their place on the tape
    answers: dict[int, ToolAnswer] = field(default_factory=dict[int, ToolAnswer])  # by the id of a call's note
    is_holding: bool = False  # it does not go on before they are answered


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
        self.store: asyncio.Future[Store] = asyncio.get_running_loop().create_future()
        self.parts: dict[AttemptId, Part] = {}
        self.jobs: dict[JobId, Part] = {}
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
        """Whether an attempt goes on; its job may be over in the store a moment before it is here."""
        return not all(self._waits(part) for part in self.jobs.values())

    def _waits(self, part: Part) -> bool:
        """For its turn, for an answer, or for the end."""
        return part.is_holding or part.awaits not in (None, self.turns.current)

    def plain(self, text: str) -> str:
        """What can be compared with the tape: without names of instances, and hidden is here what is hidden there."""
        return likeness.unnamed(str(self.hiding.hidden(text)), (self.tape.header.instance, self.instance))

    def compare_briefing(self, agent: str, recorded: Briefing, now: Briefing) -> None:
        before, after = (Briefing(self.plain(one.prompt), self.plain(one.system_prompt)) for one in (recorded, now))
        self.drifts.compare_briefing(agent, before, after)

    def holding(self) -> Iterable[Part]:
        return [part for part in self.jobs.values() if part.is_holding]
