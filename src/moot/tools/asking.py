"""Asking somebody, answering and the end of it, with the mail that goes with each, in one transaction.

What others have written into a request is data and wakes nobody. The addressee is asked by mail, which its answer
acknowledges; who has asked is told of the end by mail.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from moot.bus import mailbox, messages
from moot.bus.messages import Kind as MessageKind
from moot.core.ids import AgentId, AttemptId, RequestId
from moot.core.permissions import Preset
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.requests import requests
from moot.requests.errors import RequestRefused
from moot.requests.requests import Answerer, Kind, NewRequest, Party, Request, Verdict
from moot.tools import authority, granting, talk
from moot.tools.talk import Words

EXPIRE = "expire_request"  # the kind of job that ends a request whose time is up
LASTS = timedelta(minutes=10)  # for agents, which hold up a run; people take the time they need
_ASKED: Mapping[Kind, MessageKind] = {
    "question": "question",
    "plan_approval": "plan_approval_request",
    "permission": "permission_request",
    "shutdown": "shutdown_request",
    "mode_set": "mode_set_request",
}
_TOLD: Mapping[Kind, MessageKind] = {
    "question": "answer",
    "plan_approval": "plan_approval_response",
    "permission": "permission_response",
    "shutdown": "shutdown_response",
    "mode_set": "mode_set_response",
}


@record
class Question:
    """What is to be asked, and of whom."""

    to: str
    kind: Kind
    title: str
    body: str = ""
    options: tuple[str, ...] = ()
    hash: str | None = None
    lasts: timedelta | Literal["default"] | None = "default"
    attempt: AttemptId | None = None
    mode: Preset | None = None


@record
class Reply:
    """What is answered."""

    verdict: Verdict
    text: str = ""
    attempt: AttemptId | None = None


def ask(tx: Tx, instance: Instance, requester: Agent | None, question: Question) -> Request:
    """Ask by mail, and have it end in time; `None` asks as moot itself. The same asked again is found again."""
    addressee = _addressee(tx, instance, question.to)
    granting.check(tx, requester, addressee, question.kind, question.mode)
    new = NewRequest(
        stream=instance.stream,
        instance=instance.name,
        kind=question.kind,
        requester=_party(tx, requester),
        addressee=_party(tx, addressee),
        title=question.title,
        body=question.body,
        options=question.options,
        hash=question.hash,
        lasts=_lasts(tx, question, addressee),
        mode=question.mode,
    )
    asked = requests.ask(tx, new)
    if not asked.is_new:
        return asked.request
    request = asked.request
    if request.expires_at is not None:
        jobs.add(tx, NewJob(_timer(request.id), EXPIRE, request.stream, request.id, run_at=request.expires_at))
    kind = _ASKED[request.kind]
    words = Words(_asked(request), to=(addressee.name,), kind=kind, attempt=question.attempt, spoken="")
    said = talk.say(tx, instance, requester, words)
    requests.asked(tx, request.id, said.message.id)
    return requests.get(tx, request.id)


def answer(tx: Tx, instance: Instance, id: RequestId, reply: Reply, by: Answerer) -> Request:
    """Answer, do what was approved, and tell who has asked."""
    requests.get(tx, id, instance.stream)
    found = requests.answer(tx, id, reply.verdict, reply.text, by)
    jobs.cancel(tx, _timer(id))
    if found.state == "approved":
        granting.carry_out(tx, found)
    _put_away(tx, found)
    _tell_requester(tx, instance, found, agents.get(tx, by.id), reply.attempt)
    return found


def cancel(tx: Tx, instance: Instance, id: RequestId, by: Agent | None, *, is_operator: bool) -> Request:
    """Take it back, as the one who asked or as the operator, and tell who was asked. Nobody: moot does so itself."""
    requests.get(tx, id, instance.stream)
    found = requests.cancel(tx, id, None if is_operator or by is None else by.id)
    if found.is_new:
        _end(tx, found.request)
        # People need not be told what they no longer have to do.
        to = _here(tx, found.request.addressee_id) if not found.request.is_for_person else ()
        words = Words(_told(found.request), to=to, kind="status", reply_to=found.request.message, spoken="")
        talk.say(tx, instance, by, words)
    return found.request


def drop(tx: Tx, id: RequestId) -> None:
    """The same, where nobody is left to be told: moot does not wait for the answer any more."""
    found = requests.cancel(tx, id, None)
    if found.is_new:
        _end(tx, found.request)


def _end(tx: Tx, request: Request) -> None:
    jobs.cancel(tx, _timer(request.id))
    _put_away(tx, request)


def expire(tx: Tx, id: RequestId) -> Request | None:
    """Its time is up; None if it was over before. The timer itself is for the caller to close."""
    expired = requests.expire(tx, id)
    if expired is not None:
        _put_away(tx, expired)
        _tell_requester(tx, instances.get(tx, expired.instance), expired, None, None)
    return expired


def _addressee(tx: Tx, instance: Instance, name: str) -> Agent:
    if name.casefold() == agents.PERSON:
        return agents.person(tx, instance)
    found = agents.named(tx, instance.stream, name)
    if found.backend == "service":
        raise RequestRefused(f"{found.name} answers no requests.", "Name an agent or a person.")
    return found


def _party(tx: ReadTx, agent: Agent | None) -> Party:
    if agent is None:
        return Party("system", None)
    return Party(agent.name, agent.id, authority.speaks_for_person(tx, agent))


def _lasts(tx: ReadTx, question: Question, addressee: Agent) -> timedelta | None:
    if question.lasts != "default":
        return question.lasts
    return None if authority.speaks_for_person(tx, addressee) else LASTS


def _put_away(tx: Tx, request: Request) -> None:
    """Nobody has to read any more that this was asked."""
    if request.message is not None:
        message = messages.get(tx, request.message, request.stream)
        mailbox.ack_one(tx, request.addressee_id, message.seq)


def _tell_requester(
    tx: Tx, instance: Instance, request: Request, speaker: Agent | None, attempt: AttemptId | None
) -> None:
    to = () if request.requester_id is None else _here(tx, request.requester_id)
    kind = _TOLD[request.kind]
    if request.kind == "shutdown":
        kind = "shutdown_approved" if request.state == "approved" else "shutdown_rejected"
    words = Words(_told(request), to=to, kind=kind, reply_to=request.message, attempt=attempt, spoken="")
    talk.say(tx, instance, speaker, words)


def _here(tx: Tx, id: AgentId) -> tuple[str, ...]:
    """Its name, unless it has left."""
    agent = agents.get(tx, id)
    return () if agent.left_at is not None else (agent.name,)


def _asked(request: Request) -> str:
    """What the addressee reads."""
    what = "QUESTION" if request.kind == "question" else "REQUEST"
    lines = [f"[{what}:{request.id}] {request.title}"]
    if request.body:
        lines += ["", request.body]
    if request.mode:
        lines += ["", f"Mode: {request.mode}"]
    if request.choices:
        lines += ["", f"Options: {', '.join(request.choices)}"]
    return "\n".join(lines)


def _told(request: Request) -> str:
    """What is said at the end."""
    first = f"[{request.state.upper()}:{request.id}] {request.title}"
    return f"{first}\n\n{request.answer}" if request.answer else first


def _timer(id: RequestId) -> str:
    return f"expire:{id}"
