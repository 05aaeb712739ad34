"""Requests: a question to one addressee that stays open until it is answered, cancelled, or its time is up.

An approval is bound to the hash of exactly what was asked, and can be used once. Telling the two of it is for the
caller.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Literal

from moot.core import json
from moot.core.events import Event
from moot.core.ids import AgentId, InstanceName, MessageId, RequestId, StreamId
from moot.core.permissions import PRESETS, Preset
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.requests.errors import (
    AnswerRefused,
    NotAddressee,
    NotRequester,
    OwnRequest,
    RequestClosed,
    RequestNotFound,
    RequestRefused,
)
from moot.store import queries

sql = queries.beside(__file__)
Kind = Literal["question", "plan_approval", "permission", "shutdown", "mode_set"]
State = Literal["open", "approved", "denied", "answered", "expired", "cancelled"]
Verdict = Literal["approved", "denied", "answered"]
OPENED, ANSWERED = "request_opened", "request_answered"


@record
class Party:
    """One of the two: who asks, or who is asked."""

    name: str
    id: AgentId | None  # None: moot itself
    is_person: bool = False


@record
class NewRequest:
    """What is asked of whom."""

    stream: StreamId
    instance: InstanceName
    kind: Kind
    requester: Party
    addressee: Party
    title: str
    body: str = ""
    options: tuple[str, ...] = ()  # the possible answers, if it is not open; an empty one: nothing may be answered
    hash: str | None = None  # of what is to be approved, if that is not the words themselves
    lasts: timedelta | None = None  # None: until it is answered
    mode: Preset | None = None  # the permissions that a mode_set is about


@record
class Request:
    id: RequestId
    stream: StreamId
    instance: InstanceName
    kind: Kind
    requester: str
    requester_id: AgentId | None
    addressee: str
    addressee_id: AgentId
    is_for_person: bool
    title: str
    body: str
    options: tuple[str, ...]
    hash: str
    mode: Preset | None
    state: State
    answer: str
    answered_by: str | None
    message: MessageId | None  # by which the addressee was asked
    created_at: datetime
    expires_at: datetime | None
    answered_at: datetime | None
    used_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.state == "open"

    @property
    def choices(self) -> tuple[str, ...]:
        """The possible answers in words; none if every one is."""
        return tuple(one for one in self.options if one)

    @property
    def may_be_empty(self) -> bool:
        return "" in self.options


@record
class Change:
    """A request after something was done to it; not new if that had been done before."""

    request: Request
    is_new: bool


@record
class Answerer:
    """Who answers; the operator speaks for every person."""

    name: str
    id: AgentId
    is_operator: bool = False


def ask(tx: Tx, new: NewRequest) -> Change:
    """Open it; the same that is open already is found again."""
    addressee = new.addressee.id
    if addressee is None or addressee == new.requester.id:
        raise RequestRefused("Nobody can ask themselves.", "Name somebody else.")
    if (new.kind == "mode_set") != (new.mode is not None):
        raise RequestRefused("A mode_set is about one mode, and nothing else is.", f"Modes: {', '.join(PRESETS)}.")
    id = RequestId(tx.new_id("rq"))
    hash = new.hash or hash_of(new)
    tx.run(
        sql.add,
        id=id,
        stream=new.stream,
        instance=new.instance,
        kind=new.kind,
        requester=new.requester.name,
        requester_id=new.requester.id,
        addressee=new.addressee.name,
        addressee_id=addressee,
        is_for_person=new.addressee.is_person,
        title=new.title,
        body=new.body,
        options=json.dumps(new.options),
        hash=hash,
        mode=new.mode,
        now=tx.now,
        expires_at=None if new.lasts is None else tx.now + new.lasts,
    )
    found = tx.one(
        sql.alike, Request, stream=new.stream, requester=new.requester.name, addressee_id=addressee, hash=hash
    )
    if found.id == id:
        facts = {"kind": new.kind, "from": new.requester.name, "to": addressee}
        tx.announce(Event(new.stream, OPENED, id, facts))
    return Change(found, found.id == id)


def asked(tx: Tx, id: RequestId, message: MessageId) -> None:
    """Remember the message by which the addressee was asked."""
    tx.run(sql.asked, id=id, message=message)


def answer(tx: Tx, id: RequestId, verdict: Verdict, text: str, by: Answerer) -> Request:
    """Decide it, once: RequestClosed, whatever is answered, if that was done."""
    request = _hold(tx, id)
    _check_answerer(request, by)
    text = _checked(request, verdict, text.strip())
    _check_open(request, tx.now)
    return _close(tx, request, verdict, text, by.name)


def cancel(tx: Tx, id: RequestId, by: AgentId | None) -> Change:
    """Take it back, as the one who asked or (None) as the operator."""
    request = _hold(tx, id)
    if by is not None and by != request.requester_id:
        raise NotRequester(f"{request.requester} has asked this.", "Only who has asked can take it back.")
    if request.state == "cancelled":
        return Change(request, is_new=False)
    _check_open(request, tx.now)
    return Change(_close(tx, request, "cancelled", "", None), is_new=True)


def expire(tx: Tx, id: RequestId) -> Request | None:
    """Its time is up; None if it was over before, or is not yet."""
    request = _hold(tx, id)
    if not request.is_open or request.expires_at is None or request.expires_at > tx.now:
        return None
    return _close(tx, request, "expired", "", None)


def hold(tx: Tx, id: RequestId, until: datetime) -> None:
    """Whoever asked waits for the answer until then, in the call that asked."""
    tx.run(sql.hold, id=id, until=until)


def is_held(tx: ReadTx, message: MessageId) -> bool:
    """Whether the answer to this message is heard by somebody who waits for it in a call."""
    return tx.maybe(sql.is_held, int, message=message, now=tx.now) is not None


def use(tx: Tx, requester: AgentId, hash: str) -> Request | None:
    """What was answered to exactly this, yes or no, while nobody waited for it; from now on it is used up. None if
    there is nothing."""
    for id in tx.all(sql.unused, str, requester_id=requester, hash=hash):
        if use_up(tx, RequestId(id)):
            return get(tx, RequestId(id))
    return None


def use_up(tx: Tx, id: RequestId) -> bool:
    """An answer counts once: False if somebody was faster."""
    if _hold(tx, id).used_at is not None:
        return False
    tx.run(sql.use, id=id, now=tx.now)
    return True


def get(tx: ReadTx, id: RequestId, stream: StreamId | None = None) -> Request:
    """RequestNotFound if there is none, or none in this stream."""
    found = tx.maybe(sql.get, Request, id=id)
    if found is None or stream not in (None, found.stream):
        raise RequestNotFound(f"There is no request {id[:80]!r} here.", "See request_list, or moot inbox.")
    return found


def of_message(tx: ReadTx, message: MessageId) -> Request | None:
    """The request that somebody was asked by this message."""
    return tx.maybe(sql.of_message, Request, message=message)


def open_of(tx: ReadTx, stream: StreamId) -> list[Request]:
    """What waits for an answer, oldest first."""
    return tx.all(sql.open_of, Request, stream=stream)


def open_for(tx: ReadTx, stream: StreamId, addressee: AgentId) -> list[Request]:
    return [one for one in open_of(tx, stream) if one.addressee_id == addressee]


def latest(tx: ReadTx, stream: StreamId, limit: int) -> list[Request]:
    """The last requests, open or not, oldest first."""
    return list(reversed(tx.all(sql.latest, Request, stream=stream, limit=limit)))


def about(tx: ReadTx, stream: StreamId, hash: str) -> Request | None:
    """What was asked last about exactly this, and not taken back."""
    return tx.maybe(sql.about, Request, stream=stream, hash=hash)


def hash_of(new: NewRequest) -> str:
    """Of the words themselves."""
    words = json.dumps([new.kind, new.title, new.body, list(new.options), *([new.mode] if new.mode else [])])
    return hashlib.sha256(words.encode()).hexdigest()


def _hold(tx: Tx, id: RequestId) -> Request:
    tx.lock("requests", id)
    return get(tx, id)


def _check_answerer(request: Request, by: Answerer) -> None:
    if by.id == request.requester_id:
        raise OwnRequest(f"{by.name} has asked this.", f"Only {request.addressee} can answer it.")
    if by.id != request.addressee_id and not (by.is_operator and request.is_for_person):
        raise NotAddressee(f"This is a request to {request.addressee}.", f"Only {request.addressee} can answer it.")


def _checked(request: Request, verdict: Verdict, text: str) -> str:
    """The text as it is kept."""
    if request.kind != "question":
        if verdict == "answered":
            raise AnswerRefused(f"{request.id} is to be approved or denied.", "Say which.")
        return text
    if verdict == "approved":
        raise AnswerRefused(f"{request.id} is a question.", "Answer it with a text, or deny an answer.")
    return _option(request, text) if verdict == "answered" else text


def _option(request: Request, text: str) -> str:
    if not text and not request.may_be_empty:
        raise AnswerRefused("The answer is empty.", "Write something.")
    if not request.choices:
        return text
    meant = [option for option in request.options if option.casefold() == text.casefold()]
    if not meant:
        raise AnswerRefused(f"{text[:80]!r} is no option.", f"Choose from: {', '.join(request.choices)}.")
    return meant[0]


def _check_open(request: Request, now: datetime) -> None:
    if not request.is_open:
        by = f" by {request.answered_by}" if request.answered_by else ""
        raise RequestClosed(f"{request.id} was {request.state}{by}.", "Nothing was changed.")
    if request.expires_at is not None and request.expires_at <= now:
        raise RequestClosed(f"The time for {request.id} is up.", "Nothing was changed.")


def _close(tx: Tx, request: Request, state: State, answer: str, by: str | None) -> Request:
    tx.run(sql.close, id=request.id, state=state, answer=answer, answered_by=by, now=tx.now)
    facts = {"state": state, "by": by, "to": request.requester_id}
    # Agents hear of it by mail; moot itself, and steps that wait for it, by reactions.
    tx.announce(Event(request.stream, ANSWERED, request.id, facts))
    return get(tx, request.id)


def forget(tx: Tx, stream: StreamId) -> None:
    tx.run(sql.forget, stream=stream)
