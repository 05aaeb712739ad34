"""Parts: one recorded attempt, played again in place of a backend. Its calls are made through the tools, each in its
turn; nothing is asked of a model or a program."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, cast

from moot.backends import backend as contract
from moot.backends.backend import Assignment, Backend, Briefing, Called, Ended, Warned, Wrote
from moot.bus.mailbox import Mail
from moot.core.caller import SYSTEM, Caller
from moot.core.tool import ToolAnswer
from moot.ledger import operations
from moot.ledger.operations import Key
from moot.runner import more_mail
from moot.taping.replaying import likeness
from moot.taping.replaying.drifts import quoted
from moot.taping.replaying.likeness import Likeness
from moot.taping.replaying.performance import Part, Performance
from moot.taping.replaying.score import Note
from moot.taping.replaying.turns import first_of
from moot.taping.tape import Call, End, Letter, More, Progress
from moot.tools import dispatch, table

_MAIL = 1000
_WAIT = "wait_seconds"


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
    recorded = part.begin.attempt
    _learn(performance.likeness, part.begin.mail, assignment.inbox)
    if drifts.compare_mail(part.begin.agent, part.begin.mail, assignment.inbox):
        await _compare_briefing(performance, assignment, performance.score.briefed.get(recorded))
    for progress in performance.score.progress.get(recorded, ()):
        if (told := _progress(progress)) is not None:
            yield told
    try:
        for note in performance.score.of_attempt(recorded)[1:]:
            await _turn(performance, part, note)
            if isinstance(note, End):
                if note.attempt in performance.score.interrupted:
                    await _until_the_end(performance, part)
                yield _ended(performance, note)
                return
            await _do(performance, part, note)
            performance.turns.done(note)
        if performance.is_cut:
            await _until_the_end(performance, part)
        drifts.add(f"the recording does not say how an attempt of {assignment.agent} ended")
        yield Ended("no_result", "the recording does not say how it ended")
    finally:
        for _, held in part.held.values():
            held.cancel()


async def _compare_briefing(performance: Performance, assignment: Assignment, recorded: Briefing | None) -> None:
    """Ids, times and names of instances aside; and what is hidden on the tape is hidden here, too."""
    if recorded is None:
        return
    names = (performance.tape.header.instance, performance.instance)
    now = await assignment.brief()

    def plain(text: str) -> str:
        return likeness.unnamed(str(performance.hiding.hidden(text)), names)

    before, after = (Briefing(plain(one.prompt), plain(one.system_prompt)) for one in (recorded, now))
    performance.drifts.compare_briefing(assignment.agent, before, after)


async def _turn(performance: Performance, part: Part, note: Note) -> None:
    """Until it is this note's turn, and what was answered before it is answered again."""
    part.awaits = note
    performance.turns.bell.set()
    await performance.turns.of(note)
    part.awaits = None
    if isinstance(note, Call) and _waits(note):
        return
    heard = performance.score.heard[id(note)]
    for at in [at for at in part.held if at < heard]:
        call, held = part.held[at]
        part.is_holding = True
        performance.turns.bell.set()
        await asyncio.wait([held])
        part.is_holding = False
        del part.held[at]
        if held.cancelled():
            performance.drifts.add(f"{call.caller}: {call.tool} waits for an answer that does not come any more")
        else:
            _answered(performance, call, held.result())


async def _do(performance: Performance, part: Part, note: Note) -> None:
    match note:
        case Call() if _waits(note):
            await _hold(performance, part, note)
        case Call():
            _answered(performance, note, await call(performance, note, part.begun.caller, part))
        case More():
            store = await performance.store
            mail = await store.write(lambda tx: more_mail.hand_out(tx, part.begun, _MAIL), caller=SYSTEM)
            _learn(performance.likeness, note.mail, mail)
            performance.drifts.compare_mail(part.begun.agent.name, note.mail, mail)
        case _:
            pass


async def _hold(performance: Performance, part: Part, note: Call) -> None:
    """Ask, and go on as soon as that is in the store: the answer is given by somebody else, in their turn."""
    store, attempt = await performance.store, part.begun.attempt
    before = await store.read(lambda tx: len(operations.of_attempt(tx, attempt)))
    asking = asyncio.ensure_future(call(performance, note, part.begun.caller, part))
    part.held[performance.score.heard[id(note)]] = note, asking
    with store.listen() as signal:
        while not asking.done():
            signal.clear()
            if await store.read(lambda tx: len(operations.of_attempt(tx, attempt))) > before:
                return
            await first_of(signal.wait(), asyncio.wait([asking]))


async def perform(performance: Performance, note: Call, caller: Caller) -> None:
    """A call of somebody who is not started by moot."""
    _answered(performance, note, await call(performance, note, caller, None))


async def call(performance: Performance, note: Call, caller: Caller, part: Part | None) -> ToolAnswer:
    arguments = dict(cast(Mapping[str, Any], performance.likeness.translate(note.arguments)))
    if _WAIT in arguments:
        arguments[_WAIT] = 0  # what was waited for is there by now, or never came
    key = None
    if note.is_keyed and part is not None:
        key = Key(part.begun.job.id, part.keys.draw(note.tool, arguments))
    return await dispatch.perform(await performance.store, caller, note.tool, arguments, key, tells_mail=False)


def _answered(performance: Performance, note: Call, answer: ToolAnswer) -> None:
    performance.likeness.learn([note.structured, note.text], [dict(answer.structured), answer.text])
    performance.drifts.compare_answer(note, answer)


def _waits(note: Call) -> bool:
    """Whether it was answered by somebody who comes later; the inbox is looked into without waiting."""
    tool = table.TOOLS.get(note.tool)
    return tool is not None and tool.waits and _WAIT not in tool.arguments.model_fields and note.operation is not None


async def _until_the_end(performance: Performance, part: Part) -> None:
    """Somebody cuts the attempt off, as in the recording; or the recording was cut while it ran."""
    part.is_holding = True
    performance.turns.bell.set()
    await performance.over.wait()
    raise asyncio.CancelledError


def _ended(performance: Performance, note: End) -> Ended:
    if note.how == "cancelled":
        error = performance.score.errors.get(note.attempt)
        if error is None:  # cut off from outside, as its host was to stop
            raise asyncio.CancelledError
        return Ended("timeout", error)
    return Ended(note.failure, note.error, performance.likeness.translate(note.text), note.usage)


def _learn(known: Likeness, recorded: Sequence[Letter], now: Sequence[contract.Letter | Mail]) -> None:
    for old, new in zip(recorded, now, strict=False):
        known.learn([old.id, old.body], [new.id, new.body])


def _progress(line: Progress) -> contract.Progress | None:
    match line.kind:
        case "wrote":
            return Wrote(line.text)
        case "called":
            return Called(line.text, line.is_error)
        case "warned":
            return Warned(line.text)
        case "used":
            return line.usage
        case "cut":  # said by the recording, not by the agent
            return None
