"""A run on the terminal, as lines or as JSON lines: for the commands that attend one."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

from moot.api import plain, remedies, running, targets
from moot.api.attending import WAITING, Ending, Expected, Failed, Paused, Staged, Warned
from moot.api.footsteps import Held, Moving, Stepped
from moot.api.running import Order, Piece, Shown
from moot.api.stepping import Walked
from moot.api.summaries import Summary
from moot.api.taping import Replayed
from moot.bus.messages import Message
from moot.cli import footsteps, keyboard, terminal
from moot.cli.transcript import MARKS, Transcript
from moot.core import clock, durations, text
from moot.core.ids import MessageId
from moot.ledger import budgets
from moot.ledger.budgets import Share
from moot.ledger.usage import Usage
from moot.process import detached
from moot.registry import agents
from moot.registry.runs import Run

_keeps = ContextVar("keeps", default=True)


@contextmanager
def unkept() -> Generator[None]:
    """Commands that are called in the block work in a folder that is gone behind it: no later one can go on there."""
    before = _keeps.set(False)
    try:
        yield
    finally:
        _keeps.reset(before)


def is_kept() -> bool:
    return _keeps.get()


async def show(pieces: AsyncIterator[Piece], order: Order | None = None, *, as_json: bool) -> int:
    """Everything as it comes; the exit code. Where the order says that a person is there, what they type is said."""
    code = 0
    is_typed = order is not None and order.has_person
    is_replay = order is not None and order.taping.replay is not None
    stage = _Lines(is_replay=is_replay) if as_json else _Terminal(order)
    begins, shown = asyncio.Event(), set[MessageId]()
    typing = contextlib.nullcontext()
    if order and is_typed:
        typing = _typing(order, shown, begins)
    async with typing:
        async for piece in pieces:
            if isinstance(piece, Message) or (isinstance(piece, Run) and not piece.definition.get("kickoff")):
                begins.set()
            if isinstance(piece, Run):
                detached.tell_ready()
            if isinstance(piece, Ending | Replayed):
                code = piece.exit_code
            with terminal.unheard():
                stage.show(piece)
                terminal.flush()
            if isinstance(piece, Message):
                shown.add(piece.id)
    return code


def _typing(
    order: Order, shown: set[MessageId], begins: asyncio.Event
) -> AbstractAsyncContextManager["asyncio.Future[None]"]:
    """What is typed is said by the person, or by the lead of the team if that is the same."""
    if not order.seat:
        return keyboard.answering(running.taking_part(order), shown, begins, footsteps.enter(order))
    from moot.api import seats

    return keyboard.answering(seats.taken(order.store, order.instance), shown, begins, orders=seats.obey)


def progress(agent: str, kind: str, text: str) -> None:
    """What an agent does on its way, for people who asked for it."""
    with terminal.unheard():
        Transcript().aside(f"{agent}: {text}" if kind == "text" else f"{agent} {MARKS.get(kind, kind)} {text}")
        terminal.flush()


def progress_line(agent: str, kind: str, text: str) -> None:
    with terminal.unheard():
        terminal.line({"type": "progress", "agent": agent, "kind": kind, "text": text})
        terminal.flush()


def has_person(*, as_json: bool) -> bool:
    """Whether somebody reads what is shown and can type."""
    return terminal.is_terminal(sys.stdin) and terminal.is_terminal(sys.stdout) and not as_json


class _Terminal:
    """For people."""

    def __init__(self, order: Order | None) -> None:
        self._transcript = Transcript()
        self._ending = Ending("done")
        self._warnings = set[Warned]()  # each is said once, and not with every attempt
        self._is_typed = order is not None and order.has_person
        self._order = order
        self._own = {agents.PERSON, *([order.seat] if order is not None and order.seat else [])}
        self._is_heard = order is not None and order.heard is not None  # what agents do on their way, warnings included

    def show(self, piece: Piece) -> None:
        match piece:
            case Run():
                pass
            case Message():
                self._transcript.message(piece)
                if self._is_typed and piece.kind != "status" and not self._own.isdisjoint(piece.mentions):
                    self._transcript.aside(invitation(piece))
            case Shown() | Expected():
                self._announce(piece)
            case Failed():
                if not piece.is_last:  # moot says that itself, in the channel
                    self._transcript.aside(f"{piece.agent} failed ({piece.fact}); its mail waits")
            case Warned():
                self._warn(piece)
            case Paused() | Staged():
                self._transcript.aside(_spelled(piece))
            case Stepped() | Walked() | Held() | Moving():
                footsteps.show(piece, self._order, self._transcript)
            case Ending():
                self._ending = piece
            case Summary():
                self._sum_up(piece)
            case Replayed():
                _tell(piece)

    def _warn(self, piece: Warned) -> None:
        if piece not in self._warnings and not self._is_heard:
            self._warnings.add(piece)
            self._transcript.aside(f"{piece.agent}: {piece.text}")

    def _announce(self, piece: Shown | Expected) -> None:
        if isinstance(piece, Shown):
            self._transcript.aside(f"the live page, open within 15 minutes: {piece.link}")
            return
        for name in piece.names:
            join = targets.joining(name, piece.instance)
            self._transcript.aside(f"waits for {name}, who joins from outside: {join}")

    def _sum_up(self, summary: Summary) -> None:
        terminal.say("")
        for deeds in summary.agents:
            terminal.say("  ", terminal.one_line(deeds.name), "  ", text.counted(deeds.usage.attempts, "attempt"), ", ",
                         text.counted(deeds.messages, "message"), *_spent(deeds.usage))  # fmt: skip
        facts = [
            f"{_outcome(self._ending)} {durations.spell(summary.duration)}",
            *([text.counted(summary.flow.last_step, "step")] if summary.flow else []),
            *([text.counted(len(summary.agents), "agent")] if summary.agents or not summary.flow else []),
            text.counted(summary.messages, "message"),
            *([summary.plan.spelled] if summary.plan else []),
            _dollars(summary.usage),
            *summary.documents,
        ]
        terminal.say(terminal.paint(" · ".join(facts), "bold"))
        if summary.budget:
            terminal.say("used: ", ", ".join(_used(share) for share in summary.budget))
        kept = is_kept() and self._order is not None and self._order.desk.store is None  # and can be resumed
        for branch in summary.branches:
            terminal.say(f"work on {branch}", f": moot workspace merge {branch}" if kept else "")
        if summary.result:
            terminal.say(summary.result)
        terminal.flush()
        say_how_to_go_on(self._ending, summary, is_kept=kept)


def _spelled(piece: Paused | Staged) -> str:
    if isinstance(piece, Staged):
        return f"the team is {piece.stage}, round {piece.round}"
    until = durations.spell(max(piece.until - datetime.now(UTC), timedelta(0)))
    reason = piece.reason.rstrip(".")
    fact = reason if piece.provider in reason else f"{piece.provider} asks to wait ({reason})"
    return f"{fact}; going on in {until}"


def invitation(message: Message) -> str:
    return f"waits for you: type {'yes or no' if message.kind.endswith('_request') else 'an answer'}"


def say_how_to_go_on(ending: Ending, summary: Summary, *, is_kept: bool = True) -> None:
    instance = summary.run.instance
    reason = remedies.in_place(ending.reason, instance)
    if reason not in ("", ending.state):
        terminal.note(reason)
    if ending.exit_code == WAITING and not is_kept:
        terminal.note("nothing of it is kept; to answer, run it on a terminal")
    elif ending.exit_code == WAITING:
        inbox = remedies.answering(ending.reason, instance)
        terminal.note(f"answer with: {inbox}, or: {inbox.removesuffix('--answer')}--reply TEXT")
    if ending.state in ("interrupted", "limit", "failed") and is_kept and "moot resume" not in reason:
        terminal.note(summary.begin or f"go on with: {_resuming(summary)}")


def _tell(replayed: Replayed) -> None:
    terminal.flush()
    if not replayed.drifts:
        terminal.note("the replay is like the recording")
    for fact in replayed.drifts:
        terminal.note("drift: ", fact)


class _Lines:
    """For programs: one JSON document a line, each with its `type`. The exit code is said once, by the last that knows
    it: of a replay that is not how the run has ended."""

    def __init__(self, *, is_replay: bool) -> None:
        self._is_replay = is_replay

    def show(self, piece: Piece) -> None:
        told = dict(document(piece))
        if self._is_replay and isinstance(piece, Ending):
            del told["exit_code"]
        terminal.line(told)


def document(piece: Piece) -> plain.Plain:
    match piece:
        case Run():
            return {"type": "run", "workflow_id": piece.id, "name": piece.name, "instance": piece.instance}
        case Shown():
            return {"type": "page", "url": piece.link}
        case Message():
            return {"type": "message", **plain.message(piece)}
        case Expected():
            return {"type": "expected", "agents": piece.names}
        case Failed():
            return {"type": "failure", "agent": piece.agent, "error": piece.fact, "number": piece.number,
                    "parked": piece.is_last}  # fmt: skip
        case Warned():
            return {"type": "warning", "agent": piece.agent, "text": piece.text}
        case Paused():
            return {"type": "pause", "provider": piece.provider, "until": clock.to_iso(piece.until),
                    "reason": piece.reason}  # fmt: skip
        case Staged():
            return {"type": "stage", "stage": piece.stage, "round": piece.round, "reason": piece.reason}
        case Stepped() | Walked() | Held() | Moving():
            return footsteps.document(piece)
        case Ending():
            return {"type": "end", "status": piece.state, "reason": piece.reason, "exit_code": piece.exit_code}
        case Summary():
            return _summary(piece)
        case Replayed():
            return {"type": "replay", "drifts": piece.drifts, "exit_code": piece.exit_code}


def _summary(summary: Summary) -> plain.Plain:
    run = summary.run
    return {
        "type": "summary",
        "workflow_id": run.id,
        "name": run.name,
        "instance": run.instance,
        "status": run.state,
        "reason": run.reason,
        "agents": [{"name": one.name, "messages": one.messages, **usage(one.usage)} for one in summary.agents],
        "messages": summary.messages,
        "documents": summary.documents,
        "branches": summary.branches,
        **({"tasks": {"total": summary.plan.total, "done": summary.plan.done}} if summary.plan else {}),
        **({"steps": footsteps.summed_up(summary.flow)} if summary.flow else {}),
        "result": summary.result,
        "started_at": clock.to_iso(run.started_at),
        "seconds": summary.duration.total_seconds(),
        **usage(summary.usage),
        "budget": {
            one.kind: {"limit": _amount(one, one.limit), "used": _amount(one, one.used)} for one in summary.budget
        },
    }


def usage(used: Usage) -> plain.Plain:
    return {
        "attempts": used.attempts,
        "tokens": used.tokens,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "turns": used.turns,
        "cost": used.dollars,
        "is_estimated": used.is_estimated,
    }


def _amount(share: Share, amount: int) -> float | int:
    """Dollars, seconds, or a count."""
    return amount / 1_000_000 if share.kind in ("cost", "time") else amount


def _dollars(usage: Usage) -> str:
    return f"{'~' if usage.is_estimated else ''}${usage.dollars:.2f}"


def _spent(usage: Usage) -> list[str]:
    return [f", {text.counted(usage.tokens, 'token')}, {_dollars(usage)}"] if usage.tokens or usage.cost else []


def _used(share: Share) -> str:
    """`4 of 200 attempts`."""
    if share.kind == "attempts" and share.used == share.limit + 1:
        return f"all of {budgets.spell(share.kind, share.limit)} and the last one"
    amount = str(share.used) if share.kind not in ("cost", "time") else budgets.spell(share.kind, share.used)
    return f"{amount} of {budgets.spell(share.kind, share.limit)}"


def _resuming(summary: Summary) -> str:
    over = budgets.used_up(summary.budget, summary.run.reason)
    command = budgets.raising(over) if over and summary.run.state == "limit" else "moot resume"
    return targets.whole(command, summary.run.instance)


def _outcome(ending: Ending) -> str:
    """`done in`, before how long it took."""
    if ending.state == "done":
        return "done in"
    if ending.exit_code == WAITING:
        return "waiting after"
    return "stopped at a limit after" if ending.state == "limit" else f"{ending.state} after"
