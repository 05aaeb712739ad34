"""Ownership: who may write the documents of an instance, if not everybody.

Every change of a document, and of these rules, first locks the rules of its instance: a write is either before an
election or refused by it.
"""

from moot.core.events import Event
from moot.core.ids import AgentId, AttemptId, InstanceName, ProposalId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.documents.errors import ElectionInProgress, NotDocumentOwner
from moot.store import queries

sql = queries.beside(__file__)
ENTRY = "notes.md"
OWNED = "document_owner_changed"


@record
class Ownership:
    owner: str | None = None  # None: everybody may write
    election: ProposalId | None = None  # nobody may write until it has ended


@record
class Author:
    """Who changes a document."""

    name: str
    agent: AgentId | None = None
    attempt: AttemptId | None = None
    is_free: bool = False  # the person, and moot itself: bound by no owner and no election


SYSTEM = Author("system", is_free=True)


def ownership(tx: ReadTx, instance: InstanceName) -> Ownership:
    return tx.maybe(sql.find, Ownership, instance=instance) or Ownership()


def give(tx: Tx, instance: InstanceName, owner: str | None) -> None:
    """Only `owner` may write from here on; None: everybody. An election is over with this."""
    before = hold(tx, instance)
    tx.run(sql.give, instance=instance, owner=owner)
    if before != Ownership(owner):
        tx.announce(Event(stream_of(tx, instance), OWNED, instance, {"owner": owner}, is_quiet=True))


def elect(tx: Tx, instance: InstanceName, proposal: ProposalId) -> None:
    """Nobody may write until the owner that this vote finds is given."""
    hold(tx, instance)
    tx.run(sql.elect, instance=instance, proposal=proposal)


def hold(tx: Tx, instance: InstanceName) -> Ownership:
    """The rules, which nobody else changes before the end of this transaction, and under which no document changes."""
    if tx.maybe(sql.find, Ownership, instance=instance) is None:
        tx.run(sql.add, instance=instance, entry=ENTRY)
    tx.lock("document_rules", instance)
    return ownership(tx, instance)


def check(rules: Ownership, author: Author) -> None:
    """NotDocumentOwner, or ElectionInProgress, if this author may not write under these rules."""
    if author.is_free:
        return
    if rules.election is not None:
        raise ElectionInProgress(
            f"The owner of the documents is being elected ({rules.election}).", "Vote, and write when it has ended."
        )
    if rules.owner is not None and rules.owner.casefold() != author.name.casefold():
        raise NotDocumentOwner(f"Only @{rules.owner} can write to documents.", "Use document_suggest instead.")


def stream_of(tx: ReadTx, instance: InstanceName) -> StreamId:
    return StreamId(tx.one(sql.stream_of, str, instance=instance))
