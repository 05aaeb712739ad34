"""`moot send`: say something, and perhaps wait for the answer."""

import asyncio
import sys
from contextlib import aclosing
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING

import click

from moot.api import addressing, people, plain, roster, targets
from moot.api.connection import Connection, connect
from moot.bus import evidence
from moot.bus.errors import MessageEmpty
from moot.bus.evidence import Evidence
from moot.bus.messages import Message
from moot.cli import completing, inside, saying, terminal
from moot.cli.options import instance_option, json_option, person_option, store_option
from moot.cli.transcript import Transcript
from moot.core import clock, durations, text
from moot.core.errors import InvalidInput, MootError, NotAllowed
from moot.core.ids import InstanceName, MessageId
from moot.core.records import record
from moot.registry.errors import InstanceNotFound
from moot.registry.names import fold
from moot.store.errors import StoreNotFound
from moot.tools.talk import Said, Words

if TYPE_CHECKING:
    from moot.api.distant import Distant

KINDS = ("message", "broadcast", "task", "question", "answer", "status", "blocker")
EVERYONE = "all"
BYTES_OF_A_CHARACTER = 4


class NobodyAddressed(MootError):
    """There is nobody whose answer could be waited for."""

    code = "NOBODY_ADDRESSED"


class NoReply(MootError):
    """Nobody has answered in the time that was given."""

    code = "NO_REPLY"
    exit_code = 3


@record
class Order:
    """What is to be done."""

    words: Words
    instance: InstanceName | None
    store: str | None
    wait_seconds: float | None
    as_json: bool
    person: str | None = None
    interrupts: bool = False


@record
class Sent:
    """What has become of it."""

    said: Said
    is_served: bool
    interrupted: list[str] = field(default_factory=list[str])


@click.command()
@click.argument("message")
@click.option(
    "--to",
    multiple=True,
    metavar="TARGET",
    shell_complete=completing.agents,
    help="agent, agent@instance or @instance; may be repeated.",
)
@click.option("--reply-to", metavar="ID", help="The message this answers.")
@click.option("--kind", type=click.Choice(KINDS), default="message", show_default=True, help="What it is.")
@click.option("--artifact", "artifacts", multiple=True, metavar="WHAT", help="file:PATH, test:NAME or command:LINE.")
@click.option("--workaround", metavar="TEXT", default="", help="Of a blocker: how work goes on meanwhile.")
@click.option("--now", is_flag=True, help="Interrupt whoever works on something else: this is read first.")
@click.option("--wait", is_flag=True, help="Print the first reply; exit code 3 if there is none in time.")
@click.option("--timeout", default="60s", show_default=True, metavar="TIME", help="How long to wait.")
@person_option
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    message: str,
    to: tuple[str, ...],
    reply_to: str | None,
    kind: str,
    artifacts: tuple[str, ...],
    workaround: str,
    now: bool,
    wait: bool,
    timeout: str,
    person: str | None,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Say something to agents. MESSAGE may mention them as @name; - reads it from stdin.

    Without --to and mentions it goes to the only running agent, else to the newest that stands alone. Without an
    instance, to where those are who are named.
    """
    names, where = _addressees(to, instance)
    words = Words(
        body=_stdin() if message == "-" else message,
        to=names,
        kind=next(one for one in KINDS if one == kind),
        reply_to=MessageId(reply_to) if reply_to else None,
        evidence=Evidence(tuple(map(evidence.parse, artifacts)), " ".join(workaround.split())),
    )
    if not words.body.strip():
        raise MessageEmpty("The message is empty.", "Write something.")
    seconds = durations.parse(timeout).total_seconds()
    order = Order(words, where, store, seconds if wait else None, as_json, person, now)
    try:
        return inside.run(_send(order), partial(_send_distant, order))
    except StoreNotFound as missing:
        raise addressing.unclear([]) from missing


def _addressees(to: tuple[str, ...], instance: str | None) -> tuple[tuple[str, ...], InstanceName | None]:
    """The names to send to, and the one instance they are in."""
    if not all(one.strip() for one in to):
        raise InvalidInput("--to names nobody.", "Write --to agent or --to agent@instance.")
    found = [targets.parse(one, instance=instance or targets.home()) for one in to]
    is_placed = bool(instance) or any("@" in one for one in to)
    places = {one.instance for one in found} if is_placed else set[InstanceName]()
    if instance:
        places.add(InstanceName(instance))
    if len(places) > 1:
        raise InvalidInput(
            f"One message goes to one instance, and these are {len(places)}: {', '.join(sorted(places))}.",
            "Send it once for each.",
        )
    return tuple(one.agent or EVERYONE for one in found), places.pop() if places else None


def _stdin() -> str:
    """All of it, but never more than a message may have."""
    most = text.MAX_TEXT * BYTES_OF_A_CHARACTER
    found = b"" if sys.stdin is None else sys.stdin.buffer.read(most + 1)  # pyright: ignore[reportUnnecessaryComparison]  # None when it was closed before the start
    if len(found) > most:
        raise InvalidInput(f"Stdin has more than {text.MAX_TEXT:,} characters.", "Send a file's path instead.")
    try:
        return found.decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"Stdin is not UTF-8 (byte {error.start}).", "Convert it, for example with iconv."
        ) from error


async def _send(order: Order) -> int:
    words = order.words
    may_be_first = bool(words.mentioned) or words.kind == "broadcast"  # anything else is refused where nobody is
    async with connect(
        "channel_send", store=order.store, instance=order.instance, create=may_be_first, waits=True
    ) as opened:
        placed = opened if order.instance is not None else await opened.for_words(order.words)
        connection = await people.acting_as(placed, order.person)
        await _check_instance(connection, order.words.to)
        said, interrupted = await _say(connection, order)
        is_served = await roster.is_served(connection.store)
        if not order.as_json:
            is_guessed = connection.caller.instance != opened.caller.instance
            terminal.say(said.told, f" in {connection.caller.instance}" if is_guessed else "")
            for name in interrupted:
                terminal.say(f"{name} was interrupted and begins again with it")
        await saying.warn(connection, said, is_served=is_served)
        terminal.flush()
        if order.wait_seconds is not None and not said.recipients:
            raise NobodyAddressed("Nobody was addressed, so nobody will answer.", "Mention an agent; see moot list.")
        reply = None if order.wait_seconds is None else await _first_reply(connection, said.message, order.wait_seconds)
    return _ended(order, Sent(said, is_served, interrupted), reply)


async def _say(connection: Connection, order: Order) -> tuple[Said, list[str]]:
    """And the names of those who were interrupted for it."""
    if not order.interrupts:
        return await connection.send(order.words), []
    from moot.api import control  # brings the runner along, which other messages do not need

    return await control.say_now(connection, order.words)


async def _send_distant(order: Order, distant: "Distant") -> int:
    """Through the agent's server, which is there."""
    distant.check(order.instance, order.person)
    if order.interrupts:
        raise NotAllowed("Agents do not interrupt each other.", "Leave --now out, or ask the person: mention @human.")
    said = await distant.send(order.words)
    if not order.as_json:
        terminal.say(said.told)
    for name in said.unknown:
        terminal.warn(f"nobody here is called @{name}")
    terminal.flush()
    reply = None if order.wait_seconds is None else await distant.first_reply(said.message, order.wait_seconds)
    return _ended(order, Sent(said, is_served=True), reply)


def _ended(order: Order, sent: Sent, reply: Message | None) -> int:
    if order.as_json:
        terminal.document(_document(sent, reply))
    elif reply is not None:
        Transcript().message(reply)
    if order.wait_seconds is None:
        return 0
    if reply is None:
        raise NoReply(f"Nobody has answered in {order.wait_seconds:g} s.", "The message waits; see moot list.")
    return int(reply.kind == "system")  # moot itself says that it went wrong


async def _check_instance(connection: Connection, names: tuple[str, ...]) -> None:
    """`--to @name` is an instance; who writes it for an agent must not make a new instance of that name."""
    if EVERYONE in map(fold, names) and not await connection.exists():
        name = connection.caller.instance
        raise InstanceNotFound(f"There is no instance {name!r}.", f"For an agent, write --to {name}; see moot list.")


async def _first_reply(connection: Connection, sent: Message, seconds: float) -> Message | None:
    try:
        async with asyncio.timeout(seconds), aclosing(connection.replies(sent)) as replies:
            async for reply in replies:
                return reply
    except TimeoutError:
        return None
    return None


def _document(sent: Sent, reply: Message | None) -> plain.Plain:
    said = sent.said
    return {
        "status": "sent",
        "id": said.message.id,
        "seq": said.message.seq,
        "timestamp": clock.to_iso(said.message.at),
        "recipients": said.recipients,
        "unknown": said.unknown,
        "interrupted": sent.interrupted,
        "host_running": sent.is_served,
        "reply": plain.message(reply) if reply else None,
    }
