"""Parts: one recorded attempt, played again in place of a backend. What a program did is done again, call by call. An
agent that asked models is a session again, which is answered from the tape (`sessions`). Nothing is asked of a model or
a program."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, replace

from moot.backends import backend as contract
from moot.backends.backend import Assignment, Backend, Called, Counted, Ended, Warned, Wrote
from moot.core.caller import SYSTEM
from moot.ledger.usage import DOLLAR
from moot.runner import spending
from moot.taping.replaying import notes, sessions
from moot.taping.replaying.drifts import quoted
from moot.taping.replaying.performance import Part, Performance
from moot.taping.replaying.score import Note, is_of_model
from moot.taping.tape import Call, End, More, Progress, Refused


class ReplayedBackend:
    """In place of a backend; `backend` runs the agents of other instances."""

    def __init__(self, backend: Backend | None, performance: Performance) -> None:
        self._backend = backend
        self._performance = performance

    async def run(self, assignment: Assignment) -> AsyncGenerator[contract.Progress]:
        is_ours = assignment.instance == self._performance.instance
        if not is_ours and self._backend is None:
            yield Ended("error", "this host does not have its backend")
            return
        pieces = self._backend.run(assignment) if self._backend and not is_ours else play(self._performance, assignment)
        async for progress in pieces:
            yield progress


async def play(performance: Performance, assignment: Assignment) -> AsyncGenerator[contract.Progress]:
    part, drifts = performance.parts[assignment.attempt], performance.drifts
    if part.begin is None:
        drifts.add(f"{assignment.agent} was woken by {quoted(assignment.inbox)}, which the recording does not have")
        yield Ended()
        return
    notes.learn(performance.likeness, part.begin.mail, assignment.inbox)
    is_alike = drifts.compare_mail(part.begin.agent, part.begin.mail, assignment.inbox, performance.plain)
    ended: Ended | None = None  # of a session that has come to its end
    try:
        if performance.exchanges.get(part.begin.attempt) and sessions.is_possible(assignment):
            # What they use, and what is cut off, is counted with their journal.
            playing = sessions.play(performance, part, assignment, is_alike=is_alike)
        else:
            if lost := performance.score.lost.get(part.begin.attempt):
                await _count(performance, part, contract.Usage(cost=sum(lost.values()) / DOLLAR))
            playing = _told(performance, assignment, part.begin.attempt, is_alike=is_alike)
        async with aclosing(playing) as pieces:
            async for progress in pieces:
                if isinstance(progress, Ended):
                    ended = progress
                else:
                    yield progress
        async with aclosing(_finish(performance, part, ended)) as rest:
            async for progress in rest:
                yield progress
    finally:
        for _, held in part.held.values():
            held.cancel()


async def _told(
    performance: Performance, assignment: Assignment, recorded: str, *, is_alike: bool
) -> AsyncGenerator[contract.Progress]:
    """What an attempt let be known, but for what it used: that comes in its turn. Its words are made only to be
    compared."""
    briefing = performance.score.briefed.get(recorded)
    if is_alike and briefing is not None:
        performance.compare_briefing(assignment.agent, briefing, await assignment.brief())
    for line in performance.score.progress.get(recorded, ()):
        if (progress := _progress(line)) is not None:
            yield progress


async def _finish(
    performance: Performance, part: Part, session: Ended | None
) -> AsyncGenerator[contract.Usage | Ended]:
    """Play what is left of an attempt; of a session that is over already, that is only its end."""
    assert part.begin is not None
    agent, own = part.begin.agent, performance.score.of_attempt(part.begin.attempt)
    is_told = session is None  # not asked and refused as in the recording
    performance.turns.leave_out(one for one in own if is_of_model(one) and not (is_told and isinstance(one, Refused)))
    for note in [one for one in own if not performance.turns.is_done(one)]:
        if session is not None and isinstance(note, Call):
            performance.drifts.add(f"{agent} ends before its call of {note.tool}, which the recording has")
            performance.turns.done(note)
            continue
        await notes.turn(performance, part, note)
        if isinstance(note, End):
            if note.attempt in performance.score.interrupted:
                await _until_the_end(performance, part)
            yield _ended(performance, note) if session is None else _compared(performance, note, session)
            return
        if isinstance(note, Progress):
            await _count(performance, part, note.usage)
            yield Counted(**asdict(note.usage))
        await _do(performance, part, note)
        performance.turns.done(note)
    if performance.is_cut:
        await _until_the_end(performance, part)
    performance.drifts.add(f"the recording does not say how an attempt of {agent} ended")
    yield Ended("no_result", "the recording does not say how it ended")


async def _count(performance: Performance, part: Part, used: contract.Usage) -> None:
    """That a limit is reached with it has its own turn."""
    store = await performance.store
    await store.write(lambda tx: spending.add(tx, part.begun, used), caller=SYSTEM)


def _compared(performance: Performance, note: End, session: Ended) -> Ended:
    """The end of a session; of one that was cut off, or that broke moot, that which the recording has."""
    if note.how != "ended":
        return _ended(performance, note)
    if session.failure != note.failure:
        agent = performance.score.agents[note.attempt]
        performance.drifts.add(f"{agent} ends with {_how(session.failure)} instead of {_how(note.failure)}")
    return session


def _how(failure: contract.Failure | None) -> str:
    return "success" if failure is None else f"the failure {failure}"


async def _do(performance: Performance, part: Part, note: Note) -> None:
    match note:
        case Call():
            await notes.make(performance, part, note)
        case More():
            await notes.hand_out(performance, part, note)
        case Refused():
            await notes.refuse(performance, part, note)
        case _:
            pass


async def _until_the_end(performance: Performance, part: Part) -> None:
    """Somebody cuts the attempt off, as in the recording; or the recording was cut while it ran."""
    with part.holding():
        performance.turns.bell.set()
        await performance.over.wait()
    raise asyncio.CancelledError


def _ended(performance: Performance, note: End) -> Ended:
    if note.how == "cancelled":
        failed = performance.score.failed.get(note.attempt)
        if failed is None:  # cut off from outside, as its host was to stop
            raise asyncio.CancelledError
        told = performance.score.progress.get(note.attempt, ())
        return replace(failed, usage=sum((one.usage for one in told), contract.Usage()))
    return Ended(note.failure, note.error, performance.likeness.translate(note.text), note.usage)


def _progress(line: Progress) -> contract.Progress | None:
    match line.kind:
        case "wrote":
            return Wrote(line.text)
        case "called":
            return Called(line.text, line.is_error)
        case "warned":
            return Warned(line.text)
        case "used" | "cut":  # in its turn; said by the recording, not by the agent
            return None
