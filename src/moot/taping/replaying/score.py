"""The score: what a replay has to play, in the order in which the store saw it.

On the tape everything stands where it was noticed, which is a little later than the store did it. The numbers that the
store gave put it right. What a call, or moot itself, has brought about in the store comes by itself when the call is
played; what is left are the acts of those who did without tools, and they are notes of their own.
"""

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeGuard, cast

from moot.backends.backend import Briefing, Ended, Failure
from moot.board import checks
from moot.core.records import record
from moot.core.tree_path import TreePath
from moot.documents import documents
from moot.proposals import votes
from moot.registry import attempts, runs
from moot.requests import requests
from moot.taping.facts import ENDS, JOINED, RELEASED, STOPPED
from moot.taping.flow_lines import Moved
from moot.taping.replaying.authors import Authors
from moot.taping.replaying.handouts import INBOX, Handouts
from moot.taping.tape import (
    Asked,
    Begin,
    Briefed,
    Call,
    End,
    Happened,
    Line,
    More,
    Progress,
    Read,
    Refused,
    Replied,
    Said,
    Tape,
    Unanswered,
)

Note = Begin | Call | More | End | Said | Happened | Read | Asked | Replied | Unanswered | Refused | Progress | Moved
ACTS = frozenset(
    (
        votes.CAST,
        votes.CLOSED,
        requests.OPENED,
        requests.ANSWERED,
        documents.CHANGED,
        runs.STOP_ASKED,
        runs.PAUSED,
        STOPPED,
        RELEASED,
    )
)
_BEFORE = 0.01  # as far as a note is put before another
_BEFORE_OWN = 0.3  # and a commit of a flow before what it has brought about
INTERRUPTED = 130  # the exit code of a run that its person has ended


@record
class Score:
    notes: tuple[Note, ...]
    heard: Mapping[int, int]  # by the id of a note: its place on the tape
    progress: Mapping[str, Sequence[Progress]]  # by attempt
    briefed: Mapping[str, Briefing]  # by attempt
    failed: Mapping[str, Ended]  # attempts, as the store has them
    lost: Mapping[str, Mapping[str, int]]  # by attempt and path: requests that were cut off, and what that was charged
    interrupted: Mapping[str, str]  # attempts that were cut off from outside while the run went on, and by whom
    channel: tuple[Said, ...]  # everything that was said in the run
    agents: Mapping[str, str]  # by attempt

    def number_of(self, attempt: str) -> int:
        """Of an attempt among those of its agent, from 1."""
        agent = self.agents.get(attempt)
        return [one for one, who in self.agents.items() if who == agent].index(attempt) + 1 if agent else 0

    def of_attempt(self, attempt: str) -> list[Note]:
        return [one for one in self.notes if getattr(one, "attempt", None) == attempt and not isinstance(one, Said)]


def compose(tape: Tape) -> Score:
    events = [line for line in tape.lines if isinstance(line, Happened)]
    over = next((one.seq for one in reversed(events) if one.kind == runs.ENDED), None)
    said = tuple(one for one in tape.lines if isinstance(one, Said) and _is_of_run(one, over))
    ended = {one.subject: one for one in events if one.kind in ENDS}
    cut = [one for one in ended.values() if one.kind == attempts.INTERRUPTED and (over is None or one.seq < over)]
    agents = {line.attempt: line.agent for line in tape.lines if isinstance(line, Begin)}
    placed = _in_order(tape, events, said, over, Handouts(tape.lines, said, agents))
    return Score(
        notes=tuple(note for _, _, note in placed),
        heard={id(note): at for _, at, note in placed},
        progress=_by_attempt(tape),
        briefed=_briefed(tape, agents),
        failed={one.subject: _failed(one) for one in ended.values() if one.facts.get("error")},
        lost={one.subject: cast(Mapping[str, int], one.facts.get("lost", {})) for one in ended.values()},
        interrupted={one.subject: one.actor for one in cut},
        channel=said,
        agents=agents,
    )


def _failed(event: Happened) -> Ended:
    return Ended(cast(Failure, str(event.facts.get("failure") or "timeout")), str(event.facts["error"]))


def is_moot(note: Note | None) -> bool:
    """Whether moot itself said it: nobody plays that."""
    return isinstance(note, Said) and note.sender == "system"


def is_of_model(note: Line | None) -> TypeGuard[Asked | Replied | Unanswered | Refused]:
    """A request to a model, or what came of it. They keep to their order so that limits are reached by the same; nobody
    has to wait for one that does not come."""
    return isinstance(note, Asked | Replied | Unanswered | Refused)


def _is_of_run(said: Said, over: int | None) -> bool:
    """Agents that were at work when the run ended may have finished behind it."""
    return over is None or said.seq < over or said.attempt is not None


_Placed = tuple[float, int, Note]


def _in_order(
    tape: Tape, events: list[Happened], said: tuple[Said, ...], over: int | None, handouts: Handouts
) -> list[_Placed]:
    """What has no number stays behind what was over before it."""
    authors = Authors(tape)
    moves = [one for one in tape.lines if isinstance(one, Moved) and (over is None or one.seq < over)]
    numbers = _Numbers.of(events, said, authors, moves)
    placed: list[_Placed] = []
    answered: dict[tuple[str | None, str | None], float] = {}  # by attempt and turn: where a model wanted its calls
    own: dict[str, float] = {}  # by agent: the last that it did
    latest = 0.0
    for at, line in enumerate(tape.lines):
        if isinstance(line, Begin | Call | More | End):
            place = numbers.place(line)
            if isinstance(line, Call) and place is not None:
                place = max(place, answered.get((line.attempt, _turn(line.path)), 0.0))
            if place is None or isinstance(line, More):
                place = max(latest, place or 0.0)
            agent = handouts.agent(line)
            unseen = handouts.first_unseen(line, at, own.get(agent, 0.0))
            own[agent] = place = place if unseen is None else min(place, unseen - _BEFORE)
            latest = max(latest, place)
            shown = _shown_by(line, placed) if isinstance(line, More) else None
            placed.append((place, at, line) if shown is None else (shown[0] - _BEFORE, shown[1], line))
        elif isinstance(line, Read):
            placed.append((line.seq + 0.5, at, line))
        elif isinstance(line, Moved) and line.id in numbers.moved:
            latest = max(latest, numbers.moved[line.id])
            placed.append((numbers.moved[line.id], at, line))
        elif isinstance(line, Progress) and line.kind == "used":
            placed.append((latest, at, line))
        elif is_of_model(line):
            seq = None if isinstance(line, Asked) else line.seq
            place = latest if seq is None else seq + 0.5
            if isinstance(line, Refused) and (told := _told_of(line, said)) is not None:
                place = authors.start_of(told) - 0.25  # others may have done something before it could be told
            answered[line.attempt, _turn(line.path)] = place
            latest = max(latest, place)
            placed.append((place, at, line))
    alone = [one for one in said if one.attempt is None and (is_moot(one) or authors.is_alone(one))]
    placed += [(one.seq, len(tape.lines), one) for one in alone]
    placed += [(place, len(tape.lines), one) for place, one in _acts(tape, events, authors, over)]
    return sorted(placed, key=lambda one: one[:2])


def _told_of(refused: Refused, said: tuple[Said, ...]) -> Said | None:
    """The notice of a limit that was reached by this; whoever finds one reached comes behind its notice."""
    reasons = (refused.reached.by_run, refused.reached.by_agent)
    notices = (one for one in said if one.limit is not None and one.limit.reason in reasons)
    return next((one for one in notices if one.seq > refused.seq), None)


def _turn(path: str | None) -> str | None:
    return None if path is None else TreePath(path).above


def _shown_by(more: More, placed: list[_Placed]) -> _Placed | None:
    """The check of the inbox that shows mail which was handed out by then, though that was noticed later: what is shown
    first is not handed out any more."""
    for place, at, one in reversed(placed):
        if isinstance(one, Call) and one.attempt == more.attempt and one.tool == INBOX and one.operation is not None:
            return (place, at, one) if all(mail.id in one.text for mail in more.mail) else None
    return None


def _acts(tape: Tape, events: list[Happened], authors: Authors, over: int | None) -> Iterator[tuple[float, Happened]]:
    """What was done without tools. A document that was saved last is found when the run is over already."""
    for one in events:
        is_late = over is not None and one.seq > over
        if one.kind == checks.CHECKED and not is_late:
            yield one.seq - 0.25, one
        elif one.kind == JOINED and not is_late and not authors.is_by_call(one):
            yield one.seq, one
        elif one.kind in ACTS and one.actor != "system" and authors.is_alone(one):
            if not is_late:
                yield authors.start_of(one) - 0.25, one  # what moot says of it stands before it
            elif one.kind == documents.CHANGED:
                assert over is not None
                yield over - 0.5, one
        elif one.kind == runs.ENDED and tape.outcome is not None and _is_by_person(tape, one):
            yield one.seq, one


def _is_by_person(tape: Tape, ended: Happened) -> bool:
    """Whether somebody has interrupted it; who has stopped it did so by an act, and moot came to its end."""
    assert tape.outcome is not None
    return tape.outcome.exit_code == INTERRUPTED and ended.facts.get("state") == "interrupted"


@record
class _Numbers:
    """The store's numbers. Ids are made in the transactions whose events have the numbers, and sort by their age: by
    them a call that has made no event finds its place."""

    begun: Mapping[str, float]
    ended: Mapping[str, float]
    letters: Mapping[str, int]
    moved: Mapping[str, float]  # commits of flows
    ages: list[str]
    behind: list[float]  # what has these ages
    moved_ages: list[str]
    before: list[float]  # what of these ages, or younger, is played first

    @staticmethod
    def of(events: list[Happened], said: tuple[Said, ...], authors: Authors, moves: list[Moved]) -> "_Numbers":
        started = {one.subject: one.seq for one in events if one.kind == attempts.STARTED}
        # That a limit is reached is said in the transaction that begins the last attempt. Last words, and what moot
        # says of a failure, are posted in the one that ends an attempt.
        begun = {one.subject: authors.start_of(one) - 0.25 for one in events if one.kind == attempts.STARTED}
        ended = {one.subject: authors.start_of(one) - 0.25 for one in events if one.kind in ENDS}
        letters = {one.id: one.seq for one in said}
        step = (0.5 - _BEFORE_OWN) / (len(moves) + 1)
        moved = _moved(moves, step)
        known = [(_age(id), seq + 0.5) for id, seq in (started | letters).items()]
        known += [(_age(one.id), max(one.events) + 0.5 if one.events else moved[one.id] + step / 2) for one in moves]
        known.sort()
        ages, behind = [age for age, _ in known], [place for _, place in known]
        in_order = sorted(moves, key=lambda one: _age(one.id))
        least = list(accumulate((moved[one.id] - step / 4 for one in reversed(in_order)), min))[::-1]
        return _Numbers(begun, ended, letters, moved, ages, behind, [_age(one.id) for one in in_order], least)

    def place(self, note: Begin | Call | More | End) -> float | None:
        """None if the store does not tell."""
        match note:
            case Begin():
                return self.begun.get(note.attempt)
            case End():
                return self.ended.get(note.attempt)
            case More():
                return max((self.letters.get(one.id, 0) for one in note.mail), default=0) + 0.5
            case Call() if note.operation is not None:
                return min(note.events) if note.events else self._by_age(_age(note.operation))
            case _:
                return None

    def _by_age(self, age: str) -> float:
        """Behind what is older. On PostgreSQL a letter may have got its number later than its age says, but no flow
        that went on with what a call had for it comes before that call."""
        at, younger = bisect(self.ages, age), bisect(self.moved_ages, age)
        place = self.behind[at - 1] if at else 0.5
        return min([place, *self.before[younger : younger + 1]])


def _moved(moves: list[Moved], step: float) -> dict[str, float]:
    """Before what it has brought about, or behind what came before it: those without events by their age."""
    quiet = sorted((one for one in moves if not one.events), key=lambda one: _age(one.id))
    found = {one.id: min(one.events) - _BEFORE_OWN for one in moves if one.events}
    for at, one in enumerate(quiet, 1):
        found[one.id] = one.seq + 0.5 + at * step
    return found


def _age(id: str) -> str:
    return id.partition("_")[2]


def _by_attempt(tape: Tape) -> dict[str, list[Progress]]:
    found: dict[str, list[Progress]] = {}
    for line in tape.lines:
        if isinstance(line, Progress):
            found.setdefault(line.attempt, []).append(line)
    return found


def _briefed(tape: Tape, agents: Mapping[str, str]) -> dict[str, Briefing]:
    found: dict[str, Briefing] = {}
    last: dict[str, str] = {}
    for line in tape.lines:
        if isinstance(line, Briefed):
            agent = agents.get(line.attempt, "")
            last[agent] = last.get(agent, "") if line.system_prompt is None else line.system_prompt
            found[line.attempt] = Briefing(line.prompt, last[agent])
    return found
