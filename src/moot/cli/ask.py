"""`moot ask`: one answer from one agent file."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import click

from moot.api import questions, running, targets
from moot.api.attending import Failed, Paused, Warned
from moot.api.questions import Answer
from moot.api.running import Order, Piece
from moot.bus.messages import Message
from moot.cli import cast, completing, keyboard, loop, play, terminal
from moot.cli.options import budget_option, json_option, permissions_option, store_option
from moot.cli.transcript import MARKS
from moot.core.errors import InvalidInput
from moot.core.ids import MessageId
from moot.core.permissions import Preset
from moot.core.records import record
from moot.ledger import budgets
from moot.registry import agents
from moot.workflow.members import Flags


@record
class _Given:
    agent: str
    text: str
    budget: str | None
    permissions: Preset | None
    verbose: bool
    store: str | None
    as_json: bool

    def order(self) -> Order:
        return Order(
            source=self.agent,
            mode="run",
            instance=questions.new_instance(),
            budget=self.budget,
            store=self.store,
            has_person=play.has_person(as_json=self.as_json),
            heard=_progress if self.verbose else None,
            question=self.text,
            flags=Flags(permissions=self.permissions),
        )


@click.command()
@click.argument("agent", shell_complete=completing.agent_files)
@click.argument("words", nargs=-1, required=True)
@budget_option
@permissions_option
@click.option("--verbose", "-v", is_flag=True, help="Also show, on stderr, what agents do on their way.")
@store_option
@json_option
def command(words: tuple[str, ...], **said: Any) -> int:
    """One answer from one agent file. AGENT is a file, or the name of one in .moot/agents; WORDS - reads them from
    standard input.

    The answer alone is on stdout. Exit codes: 0 answered, 1 it failed, 2 wrong file or usage, 3 a limit was reached, 4
    waiting for a person, 130 interrupted; then moot resume goes on where it was.
    """
    text = sys.stdin.read() if words == ("-",) else " ".join(words)
    if not text.strip():
        raise InvalidInput("There is no question.", "Write it behind the agent: moot ask agent.md 'What is new?'")
    given = _Given(text=text, **said)
    order = given.order()
    loaded = questions.load(order)
    running.check_trust(order, loaded)
    for warning in loaded.workflow.warnings:
        terminal.warn(warning)
    for connected in cast.servers(loaded.workflow.everybody.values()) if given.verbose else ():
        terminal.note(f"server: {terminal.one_line(connected)}")
    return loop.host(show(questions.ask(order, loaded), order, as_json=given.as_json))


async def show(pieces: AsyncIterator[Piece | Answer], order: Order, *, as_json: bool) -> int:
    """The answer alone on stdout. Where a person is there, they are shown who asks for leave, and can type an answer:
    from then on, since what they type before that is not meant for the agent."""
    code, begins, shown = 1, asyncio.Event(), set[MessageId]()
    typing = contextlib.nullcontext()
    if order.has_person:
        typing = keyboard.answering(running.taking_part(order), shown, begins)
    async with typing:
        async for piece in pieces:
            if isinstance(piece, Answer):
                code = piece.exit_code
                _tell(piece, as_json=as_json)
            elif not as_json:
                _aside(piece, is_heard=order.heard is not None)
                if order.has_person and isinstance(piece, Message) and _waits(piece):
                    terminal.note(play.invitation(piece))
                    shown.add(piece.id)
                    begins.set()
    return code


def _tell(answer: Answer, *, as_json: bool) -> None:
    run, used, failure = answer.summary.run, answer.summary.usage, answer.failure
    if as_json:
        terminal.document(
            {
                "agent": answer.agent,
                "answer": answer.text,
                "status": run.state,
                "reason": failure.error if failure else answer.ending.reason,
                "failure": failure.kind if failure else None,
                "exit_code": answer.exit_code,
                "workflow_id": run.id,
                "instance": run.instance,
                "seconds": answer.summary.duration.total_seconds(),
                **play.usage(used),
            }
        )
        return
    if answer.text and answer.ending.state in ("done", "limit"):  # at a limit, what the last attempt summed up
        terminal.say(answer.text)
        terminal.flush()
    if failure:
        terminal.note(f"{failure.agent} failed: {failure.error}")
        retry = targets.whole("moot retry", run.instance)
        terminal.note(f"try again with: {retry}, then {targets.whole('moot resume', run.instance)}")
    elif answer.text and answer.ending.state == "limit":  # it has answered, so that nothing is left to go on with
        over = budgets.used_up(answer.summary.budget, answer.ending.reason)
        terminal.note(answer.ending.reason)
        terminal.note(f"this is what it had by then; ask again with {budgets.raised(over) if over else 'more'}")
    elif answer.text and answer.is_old:
        terminal.note("this was answered before: there was nothing left to go on with")
    elif answer.ending.state != "done":
        play.say_how_to_go_on(answer.ending, answer.summary, is_kept=play.is_kept())


def _aside(piece: Piece, *, is_heard: bool) -> None:
    match piece:
        case Failed():
            terminal.note(f"{piece.agent} failed ({piece.fact}), and is tried again")
        case Warned() if not is_heard:  # else it was told on the way
            terminal.note(f"{piece.agent}: {piece.text}")
        case Paused():
            terminal.note(f"{piece.provider} asks to wait: {piece.reason}")
        case Message() if _waits(piece):
            terminal.note(f"{piece.sender}: {piece.body}")
        case _:
            pass


def _waits(message: Message) -> bool:
    """Whether somebody asks the person; what moot itself tells them of a failure is said at the end."""
    return message.sender != "system" and agents.PERSON in message.mentions


def _progress(agent: str, kind: str, text: str) -> None:
    terminal.note(f"{agent}: {text}" if kind == "text" else f"{agent} {MARKS.get(kind, kind)} {text}")
