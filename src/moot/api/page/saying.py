"""Taking part in the conversation: saying something, and being done with what was said."""

from moot.api import control, plain, rights
from moot.api.connection import Connection
from moot.api.page.desk import Desk, Plain
from moot.bus import mailbox, messages
from moot.core.ids import MessageId
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.tools.talk import Said, Words
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource

_LONGEST = 1_000_000


def resources(at: Desk) -> list[Resource]:
    async def send(ask: Ask) -> Plain:
        return await say(at.seat(ask), _words(ask), now=ask.flag("interrupt"))

    async def acknowledge(ask: Ask) -> Plain:
        ids = [MessageId(one) for one in ask.texts("ids")]
        seat = at.seat(ask)
        done = await at.store.write(lambda tx: _acknowledged(tx, seat, ids), caller=seat.caller)
        return {"acknowledged": done}

    return [
        resource.post("/api/messages", send, "message", "to", "reply_to", "interrupt"),
        resource.post("/api/mail/ack", acknowledge, "ids"),
    ]


def _words(ask: Ask) -> Words:
    reply_to = ask.text("reply_to")
    return Words(
        ask.needed("message", most=_LONGEST),
        to=ask.texts("to"),
        reply_to=MessageId(reply_to) if reply_to else None,
    )


async def say(seat: Connection, words: Words, *, now: bool) -> Plain:
    """`now`: those who are busy with something older drop it."""
    interrupted: list[str] = []
    if now:
        said, interrupted = await control.say_now(seat, words)
    else:
        said = await seat.send(words)
    return _told(said, interrupted)


def _told(said: Said, interrupted: list[str]) -> Plain:
    return {
        "message": plain.message(said.message),
        "recipients": said.recipients,
        "unknown": said.unknown,
        "told": said.told,
        "interrupted": interrupted,
    }


def _acknowledged(tx: Tx, seat: Connection, ids: list[MessageId]) -> int:
    rights.check_writer(tx, seat.caller)
    instance = instances.get(tx, seat.caller.instance)
    person = agents.person(tx, instance)
    seqs = [messages.get(tx, id, instance.stream).seq for id in ids]
    return sum(mailbox.ack_one(tx, person.id, seq) for seq in seqs)
