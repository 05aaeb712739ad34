"""The score: what a replay has to play, in the order in which the store saw it.

On the tape everything stands where it was noticed, which is a little later than the store did it. The numbers that the
store gave put it right.
"""

import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass

from moot.bus import messages
from moot.core import json
from moot.registry import attempts
from moot.runner.tape import Begin, Call, End, Happened, More, Progress, Said, Tape

_MESSAGE = re.compile(r"\bms_[0-9a-hjkmnp-tv-z]{20}\b")
_ENDS = frozenset((attempts.SUCCEEDED, attempts.FAILED, attempts.INTERRUPTED, attempts.LOST))

Note = Begin | Call | More | End | Said


@dataclass(frozen=True, slots=True)
class Score:
    notes: tuple[Note, ...]
    progress: dict[str, list[Progress]]  # by attempt
    errors: dict[str, str]  # of attempts, as the store has them
    interrupted: frozenset[str]  # attempts that were cut off from outside
    channel: tuple[Said, ...]  # everything that was said


def compose(tape: Tape) -> Score:
    events = [line for line in tape.lines if isinstance(line, Happened)]
    said = tuple(line for line in tape.lines if isinstance(line, Said))
    ended = {one.subject: one for one in events if one.kind in _ENDS}
    return Score(
        notes=tuple(_in_order(tape, _Numbers.of(events, said))),
        progress=_by_attempt(tape),
        errors={one.subject: one.error for one in ended.values() if one.error},
        interrupted=frozenset(one.subject for one in ended.values() if one.kind == attempts.INTERRUPTED),
        channel=said,
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The store's numbers. Ids are made in the transactions whose events have the numbers, and sort by their age: by
    them an operation, which has no number, finds its place."""

    started: Mapping[str, int]
    ended: Mapping[str, float]
    ages: list[str]
    seqs: list[int]  # of what has these ages

    @staticmethod
    def of(events: list[Happened], said: tuple[Said, ...]) -> "_Numbers":
        started = {one.subject: one.seq for one in events if one.kind == attempts.STARTED}
        ended: dict[str, float] = {one.subject: one.seq for one in events if one.kind in _ENDS}
        # Last words are posted in the transaction that ends the attempt: it comes before whatever follows them.
        for one in said:
            if one.attempt in ended and one.seq == ended[one.attempt] - 1:
                ended[one.attempt] = one.seq - 0.25
        known = sorted([(_age(id), seq) for id, seq in started.items()] + [(_age(one.id), one.seq) for one in said])
        return _Numbers(started, ended, [age for age, _ in known], [seq for _, seq in known])

    def place(self, note: Note) -> float | None:
        """None if the store does not tell."""
        match note:
            case Begin():
                return self.started.get(note.attempt)
            case End():
                return self.ended.get(note.attempt)
            case Said():
                return note.seq
            case Call() if note.operation is not None:
                before = bisect(self.ages, _age(note.operation))
                return (self.seqs[before - 1] if before else 0) + 0.5
            case _:
                return None


def _in_order(tape: Tape, numbers: _Numbers) -> list[Note]:
    """What has no number stays behind what was over before it."""
    placed: list[tuple[float, int, Note]] = []
    latest = 0.0
    for at, line in enumerate(tape.lines):
        if isinstance(line, Begin | Call | More | End):
            place = numbers.place(line)
            latest = max(latest, place or 0.0)
            placed.append((latest if place is None else place, at, line))
    own = _posted_by_calls(tape)
    spoken = [line for line in tape.lines if isinstance(line, Said) and line.attempt is None and line.id not in own]
    placed += [(line.seq, len(tape.lines), line) for line in spoken]
    return [note for _, _, note in sorted(placed, key=lambda one: one[:2])]


def _posted_by_calls(tape: Tape) -> set[str]:
    """The messages that calls from outside have posted: they are played with them."""
    calls = [line for line in tape.lines if isinstance(line, Call) and line.attempt is None]
    return {id for call in calls for id in _MESSAGE.findall(json.dumps([call.structured, call.text]))}


def _age(id: str) -> str:
    return id.partition("_")[2]


def _by_attempt(tape: Tape) -> dict[str, list[Progress]]:
    found: dict[str, list[Progress]] = {}
    for line in tape.lines:
        if isinstance(line, Progress):
            found.setdefault(line.attempt, []).append(line)
    return found


def is_moot(note: Note) -> bool:
    """Whether moot itself said it: nobody plays that."""
    return isinstance(note, Said) and note.sender == "system"


POSTED = messages.POSTED
KEPT = frozenset((attempts.STARTED, *_ENDS))
