"""What waits for an answer of the caller, and the answer."""

import re
from collections.abc import Collection
from dataclasses import fields

from moot.api import proposals, rights
from moot.api.access import Access
from moot.api.connection import Connection
from moot.api.needs import Need
from moot.api.targets import DEFAULT
from moot.bus import mailbox, messages
from moot.bus.mailbox import Mail
from moot.bus.messages import Message
from moot.core import text
from moot.core.ids import InstanceName, MessageId, RequestId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.proposals.proposals import Proposal
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.requests import requests
from moot.requests.errors import AnswerRefused, RequestChanged
from moot.requests.requests import Answerer, Request, Verdict
from moot.tools import asking, groups
from moot.tools.asking import Question, Reply
from moot.tools.talk import Words

_MOST = 1000  # looked at for what was shown
_YES = frozenset(("yes", "y", "ok", "approve", "approved"))
_NO = frozenset(("no", "n", "deny", "denied", "reject", "rejected"))
_FIRST_WORD = re.compile(r"\s*([A-Za-z]*)[\s,.;:!-]*")


@record
class Waiting:
    """A message that somebody has not dealt with, and the request behind it if there is one."""

    mail: Mail
    request: Request | None


async def waiting(connection: Connection, agent: str | None, *, limit: int) -> list[Waiting]:
    """Unread mail and open requests of the caller, or of an agent, oldest first."""
    mail = await connection.inbox(agent, limit=limit)

    def look(tx: ReadTx) -> list[Waiting]:
        found = {one.id: Waiting(one, _open(requests.of_message(tx, one.id))) for one in mail}
        whose = connection.whose(tx, agent)
        for request in requests.open_for(tx, whose.stream, whose.id) if whose else ():
            if request.message is not None and request.message not in found:
                message = messages.get(tx, request.message, request.stream)
                found[message.id] = Waiting(_read(message), request)
        return sorted(found.values(), key=lambda one: one.mail.seq)[:limit]

    return await connection.store.read(look)


async def longest(connection: Connection, shown: Collection[MessageId]) -> Waiting | None:
    """What has waited longest for the caller, of what it was shown: nobody answers what they have not seen."""
    found = await waiting(connection, None, limit=_MOST)
    return next((one for one in found if one.mail.id in shown), None)


async def places(connection: Connection, person: str | None) -> list[InstanceName]:
    """Where something waits for a person who names no instance; the default one first."""

    def look(tx: ReadTx) -> list[InstanceName]:
        streams = {one.name: one.stream for one in instances.all_of(tx)}
        known = {name: agents.find(tx, stream, person or agents.PERSON) for name, stream in streams.items()}
        waits = [name for name, one in known.items() if one is not None and _waits(tx, one)]
        return sorted(waits, key=lambda name: (name != DEFAULT, name))

    return await connection.store.read(look)


def _waits(tx: ReadTx, agent: Agent) -> bool:
    counts = mailbox.counts(tx, agent.stream).get(agent.id)
    has_mail = counts is not None and bool(counts.unread + counts.parked)
    return has_mail or bool(requests.open_for(tx, agent.stream, agent.id))


async def answerable(access: Access, *, anywhere: bool = False) -> list[Request]:
    """Open requests that the caller may answer: its own, the operator all that people were asked, there or anywhere."""

    def look(tx: ReadTx) -> list[Request]:
        if access.caller.role != "operator":
            return [one for one in _open_in(tx, access) if one.addressee_id == access.caller.agent]
        places = instances.all_of(tx) if anywhere else []
        found = [one for place in places for one in requests.open_of(tx, place.stream)] or _open_in(tx, access)
        return [one for one in found if one.is_for_person and one.requester != access.caller.name]

    return await access.store.read(look)


def _open_in(tx: ReadTx, access: Access) -> list[Request]:
    instance = instances.find(tx, access.caller.instance)
    return requests.open_of(tx, instance.stream) if instance else []


async def where(access: Access, id: RequestId) -> InstanceName:
    """The instance in which the operator was asked this; others have only their own."""
    if access.caller.role != "operator":
        return access.caller.instance
    return (await access.store.read(lambda tx: requests.get(tx, id))).instance


async def all_of(access: Access, *, is_open: bool, limit: int) -> list[Request]:
    """What was asked in the caller's instance, of anybody."""

    def look(tx: ReadTx) -> list[Request]:
        instance = instances.find(tx, access.caller.instance)
        if instance is None:
            return []
        return requests.open_of(tx, instance.stream) if is_open else requests.latest(tx, instance.stream, limit)

    return await access.store.read(look)


async def ask(access: Access, question: Question) -> Request:
    text.clean(question.body, "request", limit=100_000)

    def change(tx: Tx) -> Request:
        instance, requester = rights.actor(tx, access.caller)
        return asking.ask(tx, instance, requester, question)

    return await access.store.write(change, caller=access.caller)


async def answer(
    access: Access, id: RequestId, verdict: Verdict, words: str = "", *, seen: str | None = None
) -> Request:
    """An approved question is one that is answered. `seen` is the hash of what whoever answers was shown;
    RequestChanged, if something else is asked."""
    told = text.clean(words, "answer", limit=100_000)

    def change(tx: Tx) -> Request:
        instance, agent = rights.actor(tx, access.caller)
        request = requests.get(tx, id, instance.stream)
        if seen not in (None, request.hash):
            raise RequestChanged(f"{id} asks for something else than you were shown.", "Look at it again.")
        is_answer = verdict == "approved" and request.kind == "question" and told
        by = Answerer(agent.name, agent.id, access.caller.role == "operator")
        reply = Reply("answered" if is_answer else verdict, told, access.caller.attempt)
        return asking.answer(tx, instance, id, reply, by)

    return await access.store.write(change, caller=access.caller)


async def cancel(access: Access, id: RequestId) -> Request:
    def change(tx: Tx) -> Request:
        instance, agent = rights.actor(tx, access.caller)
        return asking.cancel(tx, instance, id, agent, is_operator=access.caller.role == "operator")

    return await access.store.write(change, caller=access.caller)


async def reply(connection: Connection, one: Waiting, words: str) -> str:
    """Answer what waits in one's own words: a request, what is put to the vote, or mail. Says what that came to."""
    return await settle(connection, await need_of(connection, one), words)


async def need_of(connection: Connection, one: Waiting) -> Need:
    """What exactly it is that waits."""
    return one.request or await proposals.asked_by(connection, one.mail) or one.mail


async def settle(connection: Connection, need: Need, words: str) -> str:
    """Answer exactly this, or be told that it is over."""
    match need:
        case Request():
            groups.check(connection.caller, "request_respond")
            verdict, rest = verdict_of(need, words)
            return (await answer(connection, need.id, verdict, rest, seen=need.hash)).state
        case Proposal():
            groups.check(connection.caller, "vote")
            choice, reason = proposals.choice_of(need, words)
            return f'voted for "{(await proposals.vote(connection, need.id, choice, reason)).label}"'
        case Mail():
            groups.check(connection.caller, "channel_send")
            said = await connection.send(Words(words, reply_to=need.id))
            await connection.acknowledge([need])
            return said.told


def verdict_of(request: Request, words: str) -> tuple[Verdict, str]:
    """What a line says to a request: `no, too early` denies it with a reason."""
    if request.kind == "question":
        return "answered", words
    first = _FIRST_WORD.match(words)
    word = first[1].casefold() if first else ""
    if first is None or word not in _YES | _NO:
        raise AnswerRefused("This is to be approved or denied.", "Begin with yes or no.")
    return "approved" if word in _YES else "denied", words[first.end() :].strip()


def _open(request: Request | None) -> Request | None:
    return request if request is not None and request.is_open else None


def _read(message: Message) -> Mail:
    """A message that its addressee has acknowledged, though its request is open."""
    return Mail(*(getattr(message, field.name) for field in fields(Message)), state="acked")
