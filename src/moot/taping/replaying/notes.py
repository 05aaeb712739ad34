"""Notes of an attempt, played one by one: each waits for its turn, and calls are made through the tools, for real."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from moot.backends import backend as contract
from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.core.caller import SYSTEM, Caller
from moot.core.tool import ToolAnswer
from moot.ledger import operations
from moot.ledger.operations import Key
from moot.runner import more_mail, refusals
from moot.store.store import Store
from moot.taping.replaying import score
from moot.taping.replaying.likeness import Likeness
from moot.taping.replaying.performance import Part, Performance
from moot.taping.replaying.score import INBOX, Note
from moot.taping.replaying.turns import first_of
from moot.taping.tape import Call, Letter, More, Refused
from moot.tools import dispatch, table
from moot.tools.around import Around

_WAIT = "wait_seconds"
_CREATE, _REPO = "workspace_create", "repo_path"


async def turn(performance: Performance, part: Part, note: Note) -> None:
    """Until it is this note's turn, and what was answered before it is answered again."""
    with part.awaiting(note):
        performance.turns.bell.set()
        await performance.turns.of(note)
    if not (isinstance(note, Call) and _waits(note)):
        await settle(performance, part, performance.score.heard[id(note)])


async def turn_for_moot(performance: Performance, part: Part, note: Note) -> None:
    """Until it is this note's turn, or that of something moot says by itself, perhaps because of what follows here."""
    turns = performance.turns
    with part.awaiting(note):
        turns.bell.set()
        while turns.current is not note and not turns.is_done(note) and not score.is_moot(turns.current):
            await turns.moved()


async def settle(performance: Performance, part: Part, before: float) -> None:
    """Until the calls that were answered before this place on the tape are answered again."""
    for at in [at for at in part.held if at < before]:
        if at not in part.held:
            continue  # somebody else in it has waited for the same
        note, held = part.held[at]
        with part.holding():
            performance.turns.bell.set()
            await asyncio.wait([held])
        if part.held.pop(at, None) is None:
            continue
        if held.cancelled():
            performance.drifts.add(f"{note.caller}: {note.tool} waits for an answer that does not come any more")
        else:
            _answered(performance, note, held.result(), part)


async def make(performance: Performance, part: Part, note: Call) -> None:
    """The answer is found with the part; of a call that waits for somebody it comes later."""
    if _waits(note):
        await _hold(performance, part, note)
    else:
        _answered(performance, note, await _call(performance, note, part.begun.caller, part), part)


async def hand_out(performance: Performance, part: Part, note: More) -> tuple[Mail, ...]:
    store = await performance.store
    most = len(note.mail)  # what came a moment later is handed out later on the tape, too
    mail = await store.write(lambda tx: more_mail.hand_out(tx, part.begun, most), caller=SYSTEM)
    learn(performance.likeness, note.mail, mail)
    performance.drifts.compare_mail(part.begun.agent.name, note.mail, mail, performance.plain)
    return mail


async def refuse(performance: Performance, part: Part, note: Refused) -> None:
    """Nobody asks: what is left of it is that a limit is reached."""
    begun, store = part.begun, await performance.store
    await store.write(lambda tx: refusals.reach_all(tx, begun.agent, begun.run, note.reached), caller=SYSTEM)


async def perform(performance: Performance, note: Call, caller: Caller) -> None:
    """A call of somebody who is not started by moot. One that waits for a flow is answered later, in its turn."""
    place, outside = performance.score.heard[id(note)], performance.outside
    for at in sorted(at for at in outside if at < place):
        earlier, held = outside.pop(at)
        _answered(performance, earlier, await held, None)
    if not _is_of_flow(note):
        _answered(performance, note, await _call(performance, note, caller, None), None)
        return
    key = Key(f"replay:{performance.instance}", note.operation) if note.operation is not None else None
    asking = asyncio.ensure_future(_call(performance, note, caller, None, key))
    outside[place] = note, asking
    await until_on_record(await performance.store, asking, key)


async def until_on_record(store: Store, asking: "asyncio.Future[Any]", key: Key | None) -> None:
    """Until a call that is being made is in the store, by its key, or was answered; one without a key only reads."""
    with store.listen() as signal:
        while not asking.done():
            signal.clear()
            if await store.read(lambda tx: key is None or operations.is_on_record(tx, key)):
                return
            await first_of(signal.wait(), asyncio.wait([asking]))


def learn(known: Likeness, recorded: Sequence[Letter], now: Sequence[contract.Letter | Mail]) -> None:
    for old, new in zip(recorded, now, strict=False):
        known.learn([old.id, old.body], [new.id, new.body])


async def _hold(performance: Performance, part: Part, note: Call) -> None:
    """Ask, and go on as soon as that is in the store: the answer is given by somebody else, in their turn."""
    store, attempt = await performance.store, part.begun.attempt
    before = await store.read(lambda tx: len(operations.of_attempt(tx, attempt)))
    asking = asyncio.ensure_future(_call(performance, note, part.begun.caller, part))
    part.held[performance.score.heard[id(note)]] = note, asking
    if note.operation is None:
        await until_on_record(store, asking, None)
        return
    with store.listen() as signal:
        while not asking.done():
            signal.clear()
            if await store.read(lambda tx: len(operations.of_attempt(tx, attempt))) > before:
                return
            await first_of(signal.wait(), asyncio.wait([asking]))


async def _call(
    performance: Performance, note: Call, caller: Caller, part: Part | None, key: Key | None = None
) -> ToolAnswer:
    arguments = dict(cast(Mapping[str, Any], performance.likeness.translate(note.arguments)))
    if _WAIT in arguments:
        arguments[_WAIT] = 0  # what was waited for is there by now, or never came
    if note.tool == _CREATE:  # the branch may be taken here by that of the recording; this one is of no repository
        arguments[_REPO] = f"(replayed) {arguments.get(_REPO) or ''}"
    if part is not None and _handed_out_nothing(note) and await _has_mail(performance, part):
        return _recorded(performance, note)
    if note.is_keyed and part is not None:
        key = Key(part.begun.delivery, part.keys.draw(note.tool, arguments, note.path))
    around = Around(performance.library)
    return await dispatch.perform(
        await performance.store, caller, note.tool, arguments, key, tells_mail=False, around=around
    )


def _handed_out_nothing(note: Call) -> bool:
    return note.tool == INBOX and note.operation is None and not note.is_error


async def _has_mail(performance: Performance, part: Part) -> bool:
    store, agent = await performance.store, part.begun.agent.id
    return await store.read(lambda tx: mailbox.has_queued(tx, agent))


def _recorded(performance: Performance, note: Call) -> ToolAnswer:
    """Reading has no number, so it may be played a little late. Mail that came in between is handed out later on the
    tape, and must not be by this."""
    known = performance.likeness
    return ToolAnswer(known.translate(note.text), known.translate(note.structured))


def _answered(performance: Performance, note: Call, answer: ToolAnswer, part: Part | None) -> None:
    performance.likeness.learn([note.structured, note.text], [dict(answer.structured), answer.text])
    performance.drifts.compare_answer(note, answer)
    if part is not None:
        part.answers[id(note)] = answer


def _waits(note: Call) -> bool:
    """Whether it was answered by somebody who comes later; the inbox is looked into without waiting."""
    tool = table.TOOLS.get(note.tool)
    if tool is None or not tool.waits or _WAIT in tool.arguments.model_fields:
        return False
    return note.operation is not None or _is_of_flow(note)


def _is_of_flow(note: Call) -> bool:
    """Whether a flow had to go on before it was answered."""
    tool = table.TOOLS.get(note.tool)
    return tool is not None and tool.waits and tool.group in ("flow", "state")
