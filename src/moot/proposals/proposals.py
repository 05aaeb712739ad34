"""Proposals: what is put to a vote, on which terms, and who may vote on it: fixed when it is made.

Votes and the end of a proposal are in `votes`. What the channel hears of it is for the caller to say.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Literal

from moot.core import json
from moot.core.events import Event
from moot.core.ids import AgentId, InstanceName, MessageId, ProposalId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.proposals import tally
from moot.proposals.errors import OptionUnknown, ProposalNotFound, ProposalRefused
from moot.proposals.tally import Rule, TieBreaker
from moot.store import queries

sql = queries.beside(__file__)
Type = Literal["election", "decision", "approval", "assignment"]
Purpose = Literal["", "document_owner"]
Status = Literal["active", "resolved", "expired", "cancelled"]
ResolvedBy = Literal["votes", "timeout", "creator", "system"]
CREATED = "proposal_created"
LASTS = timedelta(seconds=60)
APPROVAL = {"yes": "Approve", "no": "Reject"}
_PREFIXES: Mapping[Purpose, str] = {"": "prop", "document_owner": "doc-owner"}


@record
class Elector:
    """Somebody who may vote."""

    agent: AgentId
    name: str


@record
class NewProposal:
    """What is to be voted on."""

    stream: StreamId
    instance: InstanceName
    type: Type
    title: str
    creator: str
    electors: tuple[Elector, ...]
    creator_id: AgentId | None = None  # None: moot itself
    description: str = ""
    options: Mapping[str, str] = field(default_factory=dict[str, str])  # id to label; none: as the type has them
    rule: Rule = "plurality"
    quorum: int | None = None  # None: everybody who may vote
    tie_breaker: TieBreaker = "first"
    is_binding: bool = False
    lasts: timedelta = LASTS
    purpose: Purpose = ""


@record
class Terms:
    """What does not change."""

    id: ProposalId
    stream: StreamId
    instance: InstanceName
    type: Type
    purpose: Purpose
    title: str
    description: str
    options: Mapping[str, str]
    creator: str
    creator_id: AgentId | None
    rule: Rule
    quorum: int
    is_quorum_required: bool  # asked for; otherwise fewer votes will do when the time is up
    tie_breaker: TieBreaker
    is_binding: bool
    created_at: datetime
    expires_at: datetime
    message: MessageId | None  # by which the electors were asked


@record
class Outcome:
    """What came of it, so far."""

    status: Status
    winner: str | None
    seed: str | None  # of the lot that was drawn
    assignments: Mapping[str, str]  # task to agent
    resolved_by: ResolvedBy | None
    reason: str  # why it was cancelled
    closed_at: datetime | None


@record
class Ballot:
    """An elector, and its vote if it has voted."""

    proposal: ProposalId
    agent: AgentId
    name: str
    choice: str | None
    reason: str
    number: int | None  # votes are numbered as they come
    voted_at: datetime | None


@record
class Vote:
    voter: str
    choice: str
    reason: str


@record
class Proposal:
    terms: Terms
    outcome: Outcome
    ballots: tuple[Ballot, ...]

    @property
    def id(self) -> ProposalId:
        return self.terms.id

    @property
    def is_open(self) -> bool:
        return self.outcome.status == "active"

    @property
    def votes(self) -> tuple[Vote, ...]:
        """In the order they were cast."""
        cast = sorted((one for one in self.ballots if one.number is not None), key=lambda one: one.number or 0)
        return tuple(Vote(one.name, one.choice, one.reason) for one in cast if one.choice is not None)

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(vote.choice for vote in self.votes)

    @property
    def counts(self) -> dict[str, int]:
        return tally.counts(self.terms.options, self.choices)

    @property
    def has_quorum(self) -> bool:
        return len(self.choices) >= self.terms.quorum

    @property
    def leaders(self) -> tuple[str, ...]:
        """Who has won, if it ends now; several are tied. An assignment has no winner."""
        if self.terms.type == "assignment":
            return ()
        return tally.leaders(self.terms.options, self.choices, self.terms.rule)

    @property
    def tied(self) -> tuple[str, ...]:
        """Options between which the creator has to decide."""
        waits = self.is_open and self.has_quorum and self.terms.tie_breaker == "creator-decides"
        return self.leaders if waits and len(self.leaders) > 1 else ()

    def ballot_of(self, agent: AgentId) -> Ballot | None:
        return next((one for one in self.ballots if one.agent == agent), None)

    def option(self, choice: str) -> str:
        """The option that is meant: by its id, or whatever its id or label is in another spelling."""
        options = self.terms.options
        if choice in options:
            return choice
        wanted = _plain(choice)
        alike = [id for id, label in options.items() if wanted in (_plain(id), _plain(label))]
        if len(alike) != 1:
            raise OptionUnknown(f"{choice[:80]!r} is no option of {self.id}.", f"Choose from: {', '.join(options)}.")
        return alike[0]


def propose(tx: Tx, new: NewProposal) -> Proposal:
    """Put it to a vote, open until its time is up."""
    options = new.options or _own_options(new)
    _check(new, options)
    prefix = _PREFIXES[new.purpose]
    id = ProposalId(f"{prefix}-{tx.one(sql.next_number, int, counter=f'proposals {prefix}'):03}")
    tx.run(
        sql.add,
        id=id,
        stream=new.stream,
        instance=new.instance,
        type=new.type,
        purpose=new.purpose,
        title=new.title,
        description=new.description,
        options=json.dumps(options),
        creator=new.creator,
        creator_id=new.creator_id,
        rule=new.rule,
        quorum=new.quorum or len(new.electors),
        is_quorum_required=new.quorum is not None,
        tie_breaker=new.tie_breaker,
        is_binding=new.is_binding,
        now=tx.now,
        expires_at=tx.now + new.lasts,
    )
    voters = enumerate(new.electors)
    tx.many(
        sql.add_elector, [{"id": id, "place": place, "agent": one.agent, "name": one.name} for place, one in voters]
    )
    tx.announce(Event(new.stream, CREATED, id, {"type": new.type, "by": new.creator}, is_quiet=True))
    return get(tx, id)


def asked(tx: Tx, id: ProposalId, message: MessageId) -> None:
    """Remember the message by which the electors were asked."""
    tx.run(sql.asked, id=id, message=message)


def get(tx: ReadTx, id: ProposalId, stream: StreamId | None = None) -> Proposal:
    """ProposalNotFound if there is none, or none in this stream."""
    terms = tx.maybe(sql.get, Terms, id=id)
    if terms is None or stream not in (None, terms.stream):
        raise ProposalNotFound(f"There is no proposal {id[:80]!r} here.", "See proposal_status, or moot vote.")
    return Proposal(terms, tx.one(sql.get, Outcome, id=id), tuple(tx.all(sql.ballots, Ballot, id=id)))


def latest_for(tx: ReadTx, stream: StreamId, purpose: Purpose) -> Proposal | None:
    """The last one that served a purpose."""
    terms = tx.maybe(sql.latest_for, Terms, stream=stream, purpose=purpose)
    return terms and get(tx, terms.id)


def open_of(tx: ReadTx, stream: StreamId) -> list[Proposal]:
    """What can be voted on, oldest first."""
    return [get(tx, terms.id) for terms in tx.all(sql.open_of, Terms, stream=stream)]


def has_open(tx: ReadTx, stream: StreamId) -> bool:
    return tx.maybe(sql.has_open, int, stream=stream) is not None


def all_of(tx: ReadTx, stream: StreamId) -> list[Proposal]:
    """Everything that was ever proposed, oldest first; in a few statements, however much it is."""
    ballots: dict[ProposalId, list[Ballot]] = {}
    for ballot in tx.all(sql.all_ballots, Ballot, stream=stream):
        ballots.setdefault(ballot.proposal, []).append(ballot)
    every = zip(tx.all(sql.all_of, Terms, stream=stream), tx.all(sql.all_of, Outcome, stream=stream), strict=True)
    return [Proposal(terms, outcome, tuple(ballots[terms.id])) for terms, outcome in every]


def latest(tx: ReadTx, stream: StreamId, limit: int, before: ProposalId | None = None) -> list[Proposal]:
    """The last ones, or the last before another, oldest first."""
    found = tx.all(sql.latest, str, stream=stream, before=before or "", limit=limit)
    return [get(tx, ProposalId(id)) for id in reversed(found)]


def _own_options(new: NewProposal) -> Mapping[str, str]:
    """What can be chosen where the proposal itself does not say."""
    match new.type:
        case "election":
            return {one.name: f"@{one.name}" for one in new.electors}
        case "approval":
            return APPROVAL
        case "decision" | "assignment":
            raise ProposalRefused(f"This {new.type} has no options.", "Give options with id and label.")


def _check(new: NewProposal, options: Mapping[str, str]) -> None:
    if not new.electors:
        raise ProposalRefused("There is nobody who could vote.", "Name electors, or wait until agents are here.")
    if new.quorum is not None and not 1 <= new.quorum <= len(new.electors):
        raise ProposalRefused(
            f"A quorum of {new.quorum} cannot be reached: {len(new.electors)} may vote.", "Ask for fewer."
        )
    spellings = [_plain(id) for id in options]
    if len(set(spellings)) < len(spellings):
        raise ProposalRefused("Two options have the same id.", "Give each its own.")
    if new.type == "assignment" and (new.rule, new.tie_breaker) != ("plurality", "first"):
        raise ProposalRefused(
            "An assignment gives everyone the task it chose, the first voter first; no rule decides it.",
            "Leave the rule and the tie-breaker away.",
        )


def _plain(spelling: str) -> str:
    return spelling.strip().removeprefix("@").casefold()


def forget(tx: Tx, stream: StreamId) -> None:
    """What was proposed in a stream is gone for good."""
    tx.run(sql.forget_electors, stream=stream)
    tx.run(sql.forget, stream=stream)
