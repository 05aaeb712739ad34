"""`moot inbox`: what waits for somebody, and the answer to it; looking changes nothing."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from moot.api import people, plain, requests, targets
from moot.api.connection import Connection, connect
from moot.api.requests import Waiting
from moot.cli import completing, inside, loop, saying, terminal
from moot.cli.desk import Desk
from moot.cli.options import instance_option, json_option, limit_option, person_option, store_option
from moot.cli.transcript import Transcript
from moot.core.errors import InvalidInput, MootError
from moot.core.ids import InstanceName
from moot.registry.agents import PERSON
from moot.requests import plain as plain_requests
from moot.store.errors import StoreNotFound
from moot.tools.talk import Words

if TYPE_CHECKING:
    from moot.api.distant import Distant


class NothingWaits(MootError):
    """There is nothing to answer."""

    code = "NOTHING_WAITS"


@click.command()
@click.argument("agent", required=False, shell_complete=completing.agents)
@click.option("--unread", is_flag=True, help="Only unread mail, not what was read and waits for an answer.")
@click.option("--pending", is_flag=True, help="Only requests that wait for an answer.")
@click.option("--ack", is_flag=True, help="Acknowledge exactly what is printed; only in your own inbox.")
@click.option("--reply", metavar="TEXT", help="Answer what waits; of several, the one whose number stands for AGENT.")
@click.option("--answer", is_flag=True, help="Go through what waits, and answer each with a line.")
@click.option("--mode", type=click.Choice(("fs", "db")), help="Of a team: from its files, or from the store as always.")
@limit_option(100, "At most so many, the oldest first.")
@person_option
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    agent: str | None,
    unread: bool,
    pending: bool,
    ack: bool,
    reply: str | None,
    answer: bool,
    mode: str | None,
    limit: int,
    person: str | None,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """What waits for you, or for AGENT (agent or agent@instance): mail that is unread or parked, and open requests."""
    number = int(agent) if agent is not None and agent.isascii() and agent.isdigit() else None
    name, where = _whose(None if number is not None else agent, instance)
    desk = Desk(name, where, store, person, limit, unread, pending, mode == "fs")
    if (reply is not None or answer) and name is not None:
        raise InvalidInput("Nobody answers for another.", f"For a person of the project: moot inbox --as {name}.")
    if number is not None and reply is None:
        raise InvalidInput(f"{number} is no agent.", "A number goes with --reply.")
    if reply is not None:
        _reply_to(desk, number, reply)
    elif answer:
        _walk(desk)
    else:
        _look(desk, ack=ack, as_json=as_json)


def _whose(agent: str | None, instance: str | None) -> tuple[str | None, InstanceName | None]:
    if agent is None:
        return None, InstanceName(instance) if instance else None
    target = targets.parse(agent, instance=instance or targets.home())
    if target.agent is None:
        raise InvalidInput(f"{agent!r} is a whole instance.", "Write agent or agent@instance.")
    if instance not in (None, target.instance):
        raise InvalidInput(f"{agent} is not in the instance {instance}.", "Leave --instance away.")
    return target.agent, target.instance if "@" in agent or instance else None


def _look(desk: Desk, *, ack: bool, as_json: bool) -> None:
    try:
        inside.run(_inbox(desk, ack=ack, as_json=as_json), partial(_inbox_distant, desk, ack=ack, as_json=as_json))
    except StoreNotFound:
        _show([], desk.agent, as_json=as_json)


@asynccontextmanager
async def _opened(desk: Desk) -> AsyncGenerator[Connection]:
    """Where something waits, if no instance is named."""
    async with connect("inbox_check", store=desk.store, instance=desk.instance) as opened:
        found = opened if desk.instance is not None or opened.caller.agent is not None else await _place(opened, desk)
        yield await people.acting_as(found, desk.person)


async def _place(opened: Connection, desk: Desk) -> Connection:
    waits = await requests.places(opened, desk.person) if desk.agent in (None, PERSON) else []
    for other in waits[1:]:
        whose = f"moot inbox --as {desk.person}" if desk.person else "moot inbox"
        terminal.note(f"more waits in {other}; see {targets.at(whose, other)}")
    if waits:
        return opened.within(waits[0])
    named = desk.agent or desk.person
    return await opened.for_words(Words("", to=(named,))) if named else opened


async def _inbox(desk: Desk, *, ack: bool, as_json: bool) -> None:
    async with _opened(desk) as connection:
        connection.check_reader(desk.agent)
        if ack:
            connection.check_own(desk.agent)
        if desk.is_of_files:
            from moot.cli import inbox_files

            await inbox_files.show(connection, desk, ack=ack, as_json=as_json)
            return
        found = await _waiting(connection, desk)
        _show(found, desk.agent or desk.person, as_json=as_json)
        terminal.flush()  # only what has been read is acknowledged
        mail = [one.mail for one in found]
        if ack and found:
            await connection.acknowledge(mail)
        elif desk.agent is None:
            await connection.hand_out(mail)


async def _inbox_distant(desk: Desk, distant: "Distant", *, ack: bool, as_json: bool) -> None:
    distant.check(desk.instance, desk.agent or desk.person)
    found = await distant.inbox(desk.limit)
    shown = [one for one in found if one.request is not None] if desk.is_pending_only else found
    _show(shown, desk.agent, as_json=as_json)
    terminal.flush()
    if ack and not desk.is_pending_only:
        await distant.acknowledge([one.mail for one in shown])


async def _waiting(connection: Connection, desk: Desk) -> list[Waiting]:
    found = await requests.waiting(connection, desk.agent, limit=desk.limit)
    found = [one for one in found if one.mail.state != "acked"] if desk.is_unread_only else found
    return [one for one in found if one.request is not None] if desk.is_pending_only else found


def _reply_to(desk: Desk, number: int | None, words: str) -> None:
    try:
        loop.run(_reply(desk, number, words))
    except StoreNotFound as missing:
        raise NothingWaits(f"Nothing waits for {desk.person or 'you'}.") from missing


async def _reply(desk: Desk, number: int | None, words: str) -> None:
    async with _opened(desk) as connection:
        found = await _waiting(connection, desk)
        if not found:
            raise NothingWaits(f"Nothing waits for {desk.person or 'you'}.")
        place = _only(found) if number is None else number - 1
        if not 0 <= place < len(found):
            raise InvalidInput("There is nothing to answer under this number.", "See moot inbox.")
        terminal.say(await requests.reply(connection, found[place], words))
        await saying.go_on(connection)


def _only(found: list[Waiting]) -> int:
    """The place of the one that waits for an answer; moot's own notices do not."""
    asking = [place for place, one in enumerate(found) if one.mail.kind != "system"] or list(range(len(found)))
    if len(asking) > 1:
        raise InvalidInput(f"{len(asking)} things wait.", "Say which: moot inbox NUMBER --reply TEXT.")
    return asking[0]


def _walk(desk: Desk) -> None:
    """One line for each; an empty one leaves it for later, the end of the input all that is left."""
    try:
        desk, found = loop.run(_all(desk))
    except StoreNotFound:
        found = []
    if not found:
        terminal.say("nothing waits for ", desk.person or "you")
    is_answered = False
    for number, one in enumerate(found, 1):
        _show_one(Transcript(), number, one)
        while line := _line():
            if loop.run(_try(desk, one, line)):
                is_answered = True
                break
        if line is None:
            break
    if is_answered:
        loop.run(_go_on(desk))


def _line() -> str | None:
    """What the person writes; None at the end of the input."""
    terminal.prompt("answer (empty: later) > ")
    line = sys.stdin.readline() if sys.stdin is not None else ""  # pyright: ignore[reportUnnecessaryComparison]  # None when it was closed before the start
    return line.strip() if line else None


async def _go_on(desk: Desk) -> None:
    async with _opened(desk) as connection:
        await saying.go_on(connection)


async def _all(desk: Desk) -> tuple[Desk, list[Waiting]]:
    """And the desk at which they are answered: where they wait, whatever comes elsewhere meanwhile."""
    async with _opened(desk) as connection:
        return replace(desk, instance=connection.caller.instance), await _waiting(connection, desk)


async def _try(desk: Desk, one: Waiting, line: str) -> bool:
    """False if it was no answer, and another line may be one."""
    async with _opened(desk) as connection:
        try:
            terminal.say(await requests.reply(connection, one, line))
        except InvalidInput as error:
            terminal.say(str(error))
            return False
        except MootError as error:  # it was answered meanwhile, or its time is up
            terminal.say(str(error))
    return True


def _show(found: list[Waiting], name: str | None, *, as_json: bool) -> None:
    if as_json:
        terminal.document([_plain(one) for one in found])
        return
    if not found:
        terminal.say(f"nothing waits for {name or 'you'}")
    transcript = Transcript()
    for number, one in enumerate(found, 1):
        _show_one(transcript, number, one)


def _show_one(transcript: Transcript, number: int, one: Waiting) -> None:
    transcript.message(one.mail)
    marks = [one.request.id if one.request else one.mail.id, f"no. {number}"]
    marks += ["high"] if one.mail.priority == "high" else []
    marks += ["parked"] if one.mail.state == "parked" else []
    transcript.aside("  ".join(marks))


def _plain(one: Waiting) -> plain.Plain:
    return {**plain.mail(one.mail), "request": plain_requests.request(one.request) if one.request else None}
