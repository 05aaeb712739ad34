"""Flows of a recording that are played again: which each is now, how far it has come, and who of them does something.

A flow keeps to its recording as long as it can: it goes on when the recording has it go on, and from the same. Once it
comes to something else, that is a drift, and from there on it goes its own way; what comes of its work is told by the
tape all the same.
"""

import asyncio
import re
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from moot.core.ids import FlowId
from moot.engine.flow.flows import Flow
from moot.engine.flow.inbox import Submission
from moot.engine.flow.strands import Strand
from moot.taping import flow_chronicle
from moot.taping.flow_lines import Moved, Started, Worked
from moot.taping.replaying.drifts import Drifts
from moot.taping.replaying.likeness import Likeness
from moot.taping.replaying.score import Note, Score
from moot.taping.replaying.turns import Turns
from moot.taping.tape import Call, Tape

_ROUND = re.compile(r"\[\d+\]")


class FlowPart:
    """One flow. `started` is None where the recording does not have it."""

    def __init__(self, started: Started | None, notes: Iterable[Moved | Call], turns: Turns, drifts: Drifts) -> None:
        self.started = started
        self.flow: FlowId | None = None  # as it is called now
        self.is_attended = False
        self.is_compared = False
        self.is_cut_off = False  # the run was over before it had come as far as the recording has it
        self.is_hurried = False  # the next time that it waits for has come
        self.moves = 0  # grows with everything that is done in it
        self._notes = list(notes)
        self._moves = deque(one for one in self._notes if isinstance(one, Moved))
        self._turns = turns
        self._drifts = drifts
        self._works = 0  # how many in it do something for which nobody else is needed
        self._awaits: list[Note] = []
        self._told = set[str]()  # steps of which it was said that they differ
        self._left = {id(one): one for one in self._moves if one.worked is not None}  # what came of work, and of whose
        self.freed = asyncio.Event()
        if started is None:
            self.freed.set()

    @property
    def is_free(self) -> bool:
        return self.freed.is_set()

    @property
    def next(self) -> Moved | None:
        """How it goes on in the recording; None if it does not any more."""
        while self._moves and self._turns.is_done(self._moves[0]):
            self._moves.popleft()
        return self._moves[0] if self._moves else None

    def call_of(self, strand: Strand) -> Call | None:
        """The call that is made next at the step where a strand is."""
        place = (strand.number, strand.step_id)
        calls = (one for one in self._notes if isinstance(one, Call) and not self._turns.is_done(one))
        return next((one for one in calls if (one.strand, one.step) == place), None)

    def worked(self, strand: Strand) -> Worked | None:
        """What came of the work of a strand, by its step: each time of the recording once."""
        found = [one for one in self._left.values() if one.step == strand.step_id]
        chosen = next((one for one in found if one.strand == strand.number), found[0] if found else None)
        return None if chosen is None else self._left.pop(id(chosen)).worked

    def played(self, note: Moved) -> None:
        self._left.pop(id(note), None)
        self._turns.done(note)

    def drift(self, fact: str) -> None:
        """From here on it goes its own way."""
        if self.is_free:
            return
        self._drifts.add(fact)
        self.freed.set()
        self._turns.leave_out(one for one in self._notes if not self._turns.is_done(one))

    def changed(self, step: str, fact: str) -> None:
        """What it is made from says something else than in the recording, at a step or elsewhere."""
        assert self.started is not None
        self._told.add(step)
        self._drifts.add(f"{self.started.name}: {fact}")

    def differs(self, step: str, fact: str) -> None:
        """Something else is to be done at a step; told once, though it may be taken again and again, and not if it is
        known why."""
        *_, name, _ = ("", *_ROUND.sub("", step).split("."))
        if name not in self._told:
            self._told.add(name)
            self._drifts.add(f"{step}: {fact}")

    @contextmanager
    def awaiting(self, note: Note) -> Generator[None]:
        self.moves += 1
        self._awaits.append(note)
        self._turns.bell.set()
        try:
            yield
        finally:
            self._awaits.remove(note)

    @contextmanager
    def working(self) -> Generator[None]:
        self.works()
        try:
            yield
        finally:
            self.rests()

    def works(self) -> None:
        self.moves += 1
        self._works += 1

    def rests(self) -> None:
        self.moves += 1
        self._works -= 1
        self._turns.bell.set()

    @property
    def is_waiting(self) -> bool:
        """For its turn, or for something to come."""
        return not self._works and not any(one is self._turns.current for one in self._awaits)


class FlowParts:
    """All flows of one recorded run."""

    def __init__(self, tape: Tape, score: Score, turns: Turns, drifts: Drifts, likeness: Likeness) -> None:
        self._drifts = drifts
        self._turns = turns
        self._likeness = likeness
        notes: dict[str | None, list[Moved | Call]] = {}
        for one in score.notes:
            if isinstance(one, Moved | Call) and one.flow is not None:
                notes.setdefault(one.flow, []).append(one)
        started = [one for one in tape.lines if isinstance(one, Started)]
        self.all = [FlowPart(one, notes.get(one.flow, ()), turns, drifts) for one in started]
        late = {one.flow for one in tape.lines if isinstance(one, Moved) and not turns.has(one)}
        for part in self.all:
            part.is_cut_off = part.started is not None and part.started.flow in late

    def part(self, flow: Flow) -> FlowPart:
        """The one that this flow is: the first of its name that is not begun yet."""
        found = next((one for one in self.all if one.flow == flow.id), None)
        if found is not None:
            return found
        same = (one for one in self.all if one.flow is None and one.started is not None)
        found = next((one for one in same if one.started and one.started.name == flow.name), None)
        if found is None:
            found = FlowPart(None, (), self._turns, self._drifts)
            self.all.append(found)
            self._drifts.add(f"{flow.name} is begun, which the recording does not have")
        found.flow = flow.id
        if found.started is not None:
            self._likeness.learn(found.started.flow, flow.id)
        return found

    def of(self, note: Moved | Call) -> FlowPart | None:
        return next((one for one in self.all if one.started is not None and one.started.flow == note.flow), None)

    def stuck(self, note: Moved) -> None:
        """Nobody brings about what a commit goes on from."""
        part = self.of(note)
        if part is None or part.started is None:
            self._turns.done(note)
        elif part.flow is None:
            part.drift(f"{part.started.name} is not begun, as it is in the recording")
        else:
            about = {one.step: None for one in note.came if one.step} or {part.started.name: None}
            part.drift(f"{', '.join(about)}: what it goes on from in the recording does not come")

    def is_waiting(self, flow: FlowId) -> bool:
        """Whether somebody has it in hand, and waits."""
        found = next((one for one in self.all if one.flow == flow), None)
        return found is not None and found.is_attended and found.is_waiting

    def is_busy(self) -> bool:
        return not all(one.is_waiting for one in self.all)

    @property
    def moves(self) -> int:
        return sum(one.moves for one in self.all)


def matched(note: Moved, waiting: Sequence[Submission]) -> tuple[Submission, ...] | None:
    """What a commit has taken in, among what waits now; None if not all of it is there."""
    left, found = list(waiting), list[Submission]()
    for one in note.came:
        same = next((each for each in left if flow_chronicle.submitted(each) == one), None)
        if same is not None:
            left.remove(same)
        elif one.kind == "begin":  # whoever asks for its step does not ask for it before
            same = Submission("", one.strand, "begin", {})
        else:
            return None
        found.append(same)
    return tuple(found)
