"""The score: what a replay has to play, in the order in which the store saw it.

Calls and ends are on the tape in that order. What the store did at a moment that no line tells (when an attempt was
handed its mail, when moot itself or a person spoke) is put in by its number, as late as the numbers allow.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from moot.bus import messages
from moot.core import json
from moot.registry import attempts, names
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

    @property
    def has_people(self) -> bool:
        """Whether anybody took part whom moot does not start."""
        return any(_is_from_outside(note) for note in self.notes)


def compose(tape: Tape) -> Score:
    events = [line for line in tape.lines if isinstance(line, Happened)]
    said = tuple(line for line in tape.lines if isinstance(line, Said))
    ended = {one.subject: one for one in events if one.kind in _ENDS}
    by_id = {one.id: one for one in said}
    placed = [_placed(line, ended, by_id) for line in tape.lines if isinstance(line, Call | End | More)]
    own = {id for line in tape.lines if isinstance(line, Call) for id in _posted(line, by_id)}
    started = {one.subject: one.seq for one in events if one.kind == attempts.STARTED}
    begins = [line for line in tape.lines if isinstance(line, Begin) and line.attempt in started]
    floating: list[tuple[int, Note]] = [(started[one.attempt], one) for one in begins]
    floating += [(one.seq, one) for one in said if one.attempt is None and one.id not in own]
    return Score(
        notes=tuple(_merged(placed, sorted(floating, key=lambda one: one[0]))),
        progress=_by_attempt(tape),
        errors={one.subject: one.error for one in ended.values() if one.error},
        interrupted=frozenset(one.subject for one in ended.values() if one.kind == attempts.INTERRUPTED),
        channel=said,
    )


def _placed(
    line: Call | End | More, ended: Mapping[str, Happened], said: Mapping[str, Said]
) -> tuple[int | None, Note]:
    """With its number, if the store has one for it."""
    if isinstance(line, End):
        found = ended.get(line.attempt)
        return (found.seq if found else None), line
    posted = _posted(line, said) if isinstance(line, Call) else {}
    return max(posted.values(), default=None), line


def _posted(call: Call, said: Mapping[str, Said]) -> dict[str, int]:
    """The messages that a call has posted by its caller's name, as far as its answer tells."""
    found = _MESSAGE.findall(json.dumps([call.structured, call.text]))
    named = [said[id] for id in found if id in said]
    return {one.id: one.seq for one in named if names.fold(one.sender) == names.fold(call.caller)}


def _by_attempt(tape: Tape) -> dict[str, list[Progress]]:
    found: dict[str, list[Progress]] = {}
    for line in tape.lines:
        if isinstance(line, Progress):
            found.setdefault(line.attempt, []).append(line)
    return found


def _merged(placed: list[tuple[int | None, Note]], floating: list[tuple[int, Note]]) -> list[Note]:
    notes: list[Note] = []
    waiting = list(floating)
    for seq, note in placed:
        attempt = cast(str | None, getattr(note, "attempt", None))
        while waiting and (_is_before(waiting[0][0], seq) or _has_begin(waiting, attempt)):
            notes.append(waiting.pop(0)[1])
        notes.append(note)
    return [*notes, *(note for _, note in waiting)]


def _is_before(seq: int, other: int | None) -> bool:
    return other is not None and seq < other


def _has_begin(waiting: list[tuple[int, Note]], attempt: str | None) -> bool:
    return any(isinstance(note, Begin) and note.attempt == attempt for _, note in waiting)


def _is_from_outside(note: Note) -> bool:
    return isinstance(note, Call | Said) and note.attempt is None and not is_moot(note)


def is_moot(note: Note) -> bool:
    """Whether moot itself said it: nobody plays that."""
    return isinstance(note, Said) and note.sender == "system"


POSTED = messages.POSTED
KEPT = frozenset((attempts.STARTED, *_ENDS))
