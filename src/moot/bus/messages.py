"""Messages: one table for the channel, broadcasts and direct mail. A message's number is its event's number.

No two messages of a stream have the same time, and times follow the numbers, so that a time is as good a place to
read on from as a number.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from moot.bus.errors import MessageEmpty, MessageNotFound
from moot.bus.mentions import Priority
from moot.core import clock, json, text
from moot.core.events import Event
from moot.core.ids import AgentId, AttemptId, MessageId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
Kind = Literal[
    "message",
    "broadcast",
    "task",
    "question",
    "answer",
    "status",
    "blocker",
    "system",
    "shutdown_request",
    "shutdown_response",
    "shutdown_approved",
    "shutdown_rejected",
    "plan_approval_request",
    "plan_approval_response",
    "permission_request",
    "permission_response",
    "mode_set_request",
    "mode_set_response",
]
POSTED = "message_posted"


@record
class Message:
    stream: StreamId
    seq: int
    id: MessageId
    sender: str
    kind: Kind
    body: str
    mentions: tuple[str, ...]
    priority: Priority
    thread: MessageId
    reply_to: MessageId | None
    task_id: str | None
    attempt: AttemptId | None
    at: datetime
    hops: int  # how many messages of agents led to it


@record
class Draft:
    """What is to be said, by whom."""

    stream: StreamId
    sender: str
    body: str
    sender_id: AgentId | None = None
    kind: Kind = "message"
    mentions: tuple[str, ...] = ()
    priority: Priority = "normal"
    reply_to: MessageId | None = None
    task_id: str | None = None
    attempt: AttemptId | None = None
    hops: int = 0
    rally: int = 0
    partner: AgentId | None = None


@record
class Recipient:
    """Somebody whose mailbox the message goes to; services have theirs emptied on arrival."""

    agent: AgentId
    name: str
    is_service: bool = False
    is_held: bool = False  # it waits there, and wakes nobody
    is_quiet: bool = False  # it counts as read on arrival, and wakes nobody

    @property
    def is_put_away(self) -> bool:
        return self.is_service or self.is_quiet


@record
class LastWord:
    """Who spoke last in a stream, and for how long two have been speaking in turn."""

    sender_id: AgentId | None
    rally: int
    partner: AgentId | None


def post(tx: Tx, draft: Draft, recipients: Sequence[Recipient]) -> Message:
    """Say it: the message, a mailbox row for each recipient, one event. Who they are was asked in this transaction."""
    body = text.clean(draft.body, "message")
    if not body.strip():
        raise MessageEmpty("The message is empty.", "Write something.")
    id = MessageId(tx.new_id("ms"))
    thread = id if draft.reply_to is None else get(tx, draft.reply_to, draft.stream).thread
    awake = [one.agent for one in recipients if not (one.is_service or one.is_quiet or one.is_held)]
    number = tx.emit(Event(draft.stream, POSTED, id, {"from": draft.sender, "kind": draft.kind, "to": awake}))
    tx.put(
        sql.add,
        stream=draft.stream,
        seq=number.seq,
        id=id,
        sender=draft.sender,
        sender_id=draft.sender_id,
        kind=draft.kind,
        body=body,
        mentions=json.dumps(draft.mentions),
        priority=draft.priority,
        thread=thread,
        reply_to=draft.reply_to,
        task_id=draft.task_id,
        attempt=draft.attempt,
        hops=draft.hops,
        rally=draft.rally,
        partner=draft.partner,
        at=number.at,
    )
    message = Message(
        draft.stream, number.seq, id, draft.sender, draft.kind, body, draft.mentions, draft.priority,
        thread, draft.reply_to, draft.task_id, draft.attempt, clock.from_micros(number.at), draft.hops,
    )  # fmt: skip
    for recipient in recipients:
        _deliver(tx, message, recipient)
    return message


def _deliver(tx: Tx, message: Message, recipient: Recipient) -> None:
    tx.put(
        sql.add_mail,
        stream=message.stream,
        seq=message.seq,
        agent=recipient.agent,
        state="acked" if recipient.is_put_away else "queued",
        priority=message.priority,
        acked_at=message.at if recipient.is_put_away else None,
    )


def last_of_attempt(tx: ReadTx, stream: StreamId, attempt: AttemptId) -> str:
    """What it has said last; nothing if it has not spoken."""
    return tx.maybe(sql.last_of_attempt, str, attempt=attempt, stream=stream) or ""


def has_asked(tx: ReadTx, stream: StreamId, attempt: AttemptId) -> bool:
    """Whether an attempt has said something that somebody is to answer."""
    return tx.maybe(sql.has_asked, int, attempt=attempt, stream=stream) is not None


def get(tx: ReadTx, id: MessageId, stream: StreamId | None = None) -> Message:
    """MessageNotFound if there is none, or none in this stream."""
    found = tx.maybe(sql.get, Message, id=id)
    if found is None or stream not in (None, found.stream):
        raise MessageNotFound(f"There is no message {id[:80]!r} here.", "Use an id from channel_read.")
    return found


def last_word(tx: ReadTx, stream: StreamId) -> LastWord | None:
    return tx.maybe(sql.last_word, LastWord, stream=stream)


def latest(tx: ReadTx, stream: StreamId, limit: int) -> list[Message]:
    """The last messages, oldest first."""
    return list(reversed(tx.all(sql.latest, Message, stream=stream, limit=limit)))


def latest_with(tx: ReadTx, stream: StreamId, name: str, agent: AgentId, limit: int) -> list[Message]:
    """The last messages that an agent has said or heard, oldest first."""
    found = tx.all(sql.latest_with, Message, stream=stream, name=name, agent=agent, limit=limit)
    return list(reversed(found))


def after(tx: ReadTx, stream: StreamId, seq: int, limit: int) -> list[Message]:
    """Messages behind a number, in order."""
    return tx.all(sql.after, Message, stream=stream, seq=seq, limit=limit)


def latest_after(tx: ReadTx, stream: StreamId, seq: int, limit: int) -> list[Message]:
    """The last messages behind a number, oldest first."""
    return list(reversed(tx.all(sql.latest_after, Message, stream=stream, seq=seq, limit=limit)))


def latest_after_time(tx: ReadTx, stream: StreamId, moment: datetime, limit: int) -> list[Message]:
    """The last messages that are younger than a moment, oldest first."""
    return [message for message in latest(tx, stream, limit) if message.at > moment]


def of_thread(tx: ReadTx, thread: MessageId, limit: int) -> list[Message]:
    """The last of a message and all that answers it, oldest first."""
    return list(reversed(tx.all(sql.of_thread, Message, thread=thread, limit=limit)))


@record
class _Share:
    sender: str
    count: int


def count_by_sender(tx: ReadTx, stream: StreamId, first: int, last: int | None) -> dict[str, int]:
    """How much everybody has said in a part of a stream; `last` None: up to its end."""
    shares = tx.all(sql.count_by_sender, _Share, stream=stream, first=first, last=last)
    return {share.sender: share.count for share in shares}


def first_of_latest(tx: ReadTx, stream: StreamId, count: int) -> int:
    """The number of the first of the last so many messages; 0 if there are none."""
    return tx.one(sql.first_of_latest, int, stream=stream, count=count)


def count(tx: ReadTx, stream: StreamId) -> int:
    return tx.one(sql.count, int, stream=stream)


def forget(tx: Tx, stream: StreamId, seq: int) -> None:
    """Messages up to a number are gone for good, and with them what lay in mailboxes."""
    tx.run(sql.forget_mail, stream=stream, seq=seq)
    tx.run(sql.forget, stream=stream, seq=seq)
