"""Mailboxes: one row per recipient, from `queued` over `delivered` to `acked`.

A row is `parked` when its attempts are used up, and `dead` when its addressee is gone. Only what was handed out can
be acknowledged.

The index of what waits holds rows with `state = 'queued' or state = 'delivered'`. SQLite uses it only for statements
that say one of these terms, or the whole, in just these words: `in (…)` means a scan of all mail there ever was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from moot.bus.errors import NothingToAcknowledge
from moot.bus.messages import Message
from moot.core.ids import AgentId, AttemptId, MessageId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
State = Literal["queued", "delivered", "acked", "parked", "dead"]


@record
class Mail(Message):
    """A message as it lies in somebody's mailbox."""

    state: State


@record
class Receipt:
    """How far a message has come with one recipient."""

    agent: AgentId
    state: State
    delivered_at: datetime | None
    acked_at: datetime | None


@record
class Counts:
    """How much lies in one mailbox."""

    agent: AgentId
    unread: int
    parked: int


@record
class Box:
    """A message in one mailbox, by the name of whose that is."""

    seq: int
    name: str
    state: State


def boxes(tx: ReadTx, stream: StreamId, after: int, until: int) -> list[Box]:
    """What lies in all mailboxes of the messages behind a number, up to another."""
    return tx.all(sql.boxes, Box, stream=stream, after=after, until=until)


def unread(tx: ReadTx, agent: AgentId, limit: int) -> list[Mail]:
    """What waits for an agent, oldest first; looking changes nothing."""
    return tx.all(sql.unread, Mail, agent=agent, limit=limit)


def count_unread(tx: ReadTx, agent: AgentId) -> int:
    return tx.one(sql.count_unread, int, agent=agent)


def parked(tx: ReadTx, agent: AgentId, limit: int) -> list[Mail]:
    return tx.all(sql.parked, Mail, agent=agent, limit=limit)


def has_queued(tx: ReadTx, agent: AgentId) -> bool:
    return tx.maybe(sql.has_queued, int, agent=agent) is not None


def has_queued_for_reader(tx: ReadTx, agent: AgentId) -> bool:
    """Whether something waits for an agent that reads what its tools answer; a script does not."""
    return tx.maybe(sql.has_queued_for_reader, int, agent=agent) is not None


def hand_out(tx: Tx, agent: AgentId, attempt: AttemptId, limit: int) -> list[Mail]:
    """Deliver the oldest queued mail to an attempt, and return all that was delivered to it."""
    tx.run(sql.deliver, agent=agent, attempt=attempt, limit=limit, now=tx.now)
    return tx.all(sql.delivered, Mail, agent=agent, attempt=attempt)


def hand_out_more(tx: Tx, agent: AgentId, attempt: AttemptId, limit: int) -> list[Mail]:
    """Deliver the oldest queued mail to an attempt that has some already, and return only what is new."""
    tx.lock("attempts", attempt)  # or two who look at once would both take for new what one of them delivers
    before = {mail.seq for mail in tx.all(sql.delivered, Mail, agent=agent, attempt=attempt)}
    return [mail for mail in hand_out(tx, agent, attempt, limit) if mail.seq not in before]


def show(tx: Tx, agent: AgentId, attempt: AttemptId | None, limit: int) -> list[Mail]:
    """What waits, oldest first. Exactly what is returned counts as handed out, to the attempt if there is one."""
    seen = unread(tx, agent, limit)
    hand_out_these(tx, agent, attempt, [mail for mail in seen if mail.state == "queued"])
    return [replace(mail, state="delivered") for mail in seen]


def hand_out_these(tx: Tx, agent: AgentId, attempt: AttemptId | None, mail: Sequence[Mail]) -> None:
    """Deliver just these messages, unless that was done before."""
    to = {"agent": agent, "attempt": attempt, "now": tx.now}
    tx.many(sql.deliver_one, [{"stream": one.stream, "seq": one.seq, **to} for one in mail])


def rejoin(tx: Tx, agent: AgentId, attempt: AttemptId) -> None:
    """Parked mail gets one more chance together with new mail."""
    tx.run(sql.rejoin, agent=agent, attempt=attempt, now=tx.now)


def ack_attempt(tx: Tx, agent: AgentId, attempt: AttemptId) -> int:
    """Acknowledge exactly what this attempt was given."""
    return tx.run(sql.ack_attempt, agent=agent, attempt=attempt, now=tx.now)


def take_back(tx: Tx, agent: AgentId, attempt: AttemptId, *, is_failure: bool = True) -> int:
    """An attempt did not succeed: its mail waits again, but what had been parked before is parked again. Only a
    failure of its own uses up the one more chance of parked mail."""
    tx.run(sql.park_rejoined, agent=agent, attempt=attempt, is_failure=is_failure)
    return tx.run(sql.take_back, agent=agent, attempt=attempt)


def take_back_mail(tx: Tx, agent: AgentId, attempt: AttemptId, mail: Iterable[Mail]) -> None:
    """What was handed out to an attempt that nobody could show it to any more waits again."""
    who = {"agent": agent, "attempt": attempt}
    tx.many(sql.take_back_one, [{"stream": one.stream, "seq": one.seq, **who} for one in mail])


def park(tx: Tx, agent: AgentId, attempt: AttemptId) -> int:
    """An attempt failed for the last time: its mail wakes nobody any more."""
    return tx.run(sql.park, agent=agent, attempt=attempt)


def park_until(tx: Tx, agent: AgentId, attempt: AttemptId, moment: datetime) -> int:
    """The same, but what was said after a moment was not there in all the tries, and waits again."""
    count = tx.run(sql.park_until, agent=agent, attempt=attempt, moment=moment)
    take_back(tx, agent, attempt)
    return count


def park_queued(tx: Tx, agent: AgentId) -> int:
    """Nobody came in time for what waits: it wakes nobody any more."""
    return tx.run(sql.park_queued, agent=agent)


def park_message(tx: Tx, stream: StreamId, seq: int) -> int:
    """Nobody shall be woken by this message."""
    return tx.run(sql.park_message, stream=stream, seq=seq)


def revive(tx: Tx, agent: AgentId) -> int:
    """Parked mail counts as new again."""
    return tx.run(sql.revive, agent=agent)


def revive_message(tx: Tx, stream: StreamId, seq: int) -> list[AgentId]:
    """The same of one message, for all for whom it was parked."""
    return [AgentId(id) for id in tx.all(sql.revive_message, str, stream=stream, seq=seq)]


def drop_message(tx: Tx, stream: StreamId, seq: int) -> list[AgentId]:
    """Nobody for whom it was parked will read it."""
    return [AgentId(id) for id in tx.all(sql.drop_message, str, stream=stream, seq=seq)]


def inherit(tx: Tx, agent: AgentId, heir: AgentId) -> int:
    """The addressee is gone and somebody has taken its place: what it had not read waits for that one."""
    return tx.run(sql.inherit, agent=agent, heir=heir)


def bury(tx: Tx, agent: AgentId) -> int:
    """The addressee is gone: its unread mail is dead."""
    return tx.run(sql.bury, agent=agent) + tx.run(sql.bury_parked, agent=agent)


def bury_until(tx: Tx, agent: AgentId, seq: int) -> int:
    """What belongs to the past: nobody will read what was not read up to here."""
    return tx.run(sql.bury_until, agent=agent, seq=seq) + tx.run(sql.bury_parked_until, agent=agent, seq=seq)


def bury_message(tx: Tx, stream: StreamId, seq: int) -> int:
    """Nobody needs this message any more: it is taken back from all who have not read it."""
    return tx.run(sql.bury_message, stream=stream, seq=seq)


def ack_named(tx: Tx, agent: AgentId, reference: MessageId | int) -> int:
    """Acknowledge one message, and everything delivered before it."""
    found = (
        tx.maybe(sql.place_of_seq, _Place, agent=agent, seq=reference)
        if isinstance(reference, int)
        else tx.maybe(sql.place_of_id, _Place, agent=agent, id=reference)
    )
    if found is None or found.state == "dead":
        raise NothingToAcknowledge(
            f"{str(reference)[:80]!r} names no message in this inbox.", "Use an id or seq from inbox_check."
        )
    if found.state == "queued":
        raise NothingToAcknowledge(
            f"{str(reference)[:80]!r} was not handed out yet.", "Read it with inbox_check first."
        )
    return ack_one(tx, agent, found.seq) + tx.run(sql.ack_delivered, agent=agent, seq=found.seq, now=tx.now)


def ack_one(tx: Tx, agent: AgentId, seq: int) -> int:
    """Acknowledge just this message, for somebody who has seen it, handed out or not."""
    return tx.run(sql.ack_one, agent=agent, seq=seq, now=tx.now)


def ack_until(tx: Tx, agent: AgentId, moment: datetime) -> int:
    """Acknowledge what was delivered and said up to a moment; what was never handed out stays unread."""
    return tx.run(sql.ack_until, agent=agent, moment=moment, now=tx.now)


def done_until(tx: ReadTx, agent: AgentId, stream: StreamId) -> datetime | None:
    """The time of the newest message that an agent is done with."""
    return tx.maybe(sql.last_acked, datetime, stream=stream, agent=agent)


def receipts(tx: ReadTx, stream: StreamId, seq: int) -> list[Receipt]:
    return tx.all(sql.receipts, Receipt, stream=stream, seq=seq)


def counts(tx: ReadTx, stream: StreamId) -> dict[AgentId, Counts]:
    """Unread and parked mail of everyone in a stream."""
    return {found.agent: found for found in tx.all(sql.counts, Counts, stream=stream)}


@record
class _Place:
    seq: int
    state: State
