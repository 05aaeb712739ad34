"""Votes, and how a proposal ends: by enough of them, by its time, by its creator.

Everything here first locks the proposal: two votes that come at once are counted one after the other. A vote is final;
the same vote again changes nothing, even after the end.
"""

from dataclasses import replace

from moot.core import clock, json
from moot.core.errors import NotAllowed
from moot.core.events import Event
from moot.core.ids import AgentId, ProposalId
from moot.core.records import record
from moot.core.tx import Tx
from moot.proposals import proposals, tally
from moot.proposals.errors import AlreadyVoted, NotAnElector, NotTied, OptionUnknown, ProposalClosed
from moot.proposals.proposals import Outcome, Proposal, ResolvedBy, Status
from moot.store import queries

sql = queries.beside(__file__)
CAST = "vote_cast"
CLOSED = "proposal_closed"


@record
class Cast:
    """A vote, and the proposal with it."""

    proposal: Proposal
    choice: str
    is_new: bool  # False: it was there before

    @property
    def label(self) -> str:
        return self.proposal.terms.options[self.choice]


def vote(tx: Tx, id: ProposalId, voter: AgentId, choice: str, reason: str = "") -> Cast:
    """Vote once. The vote that completes the quorum resolves the proposal, unless its creator has to break a tie."""
    proposal = _held(tx, id)
    ballot = proposal.ballot_of(voter)
    if ballot is None:
        electors = ", ".join(one.name for one in proposal.ballots)
        raise NotAnElector(f"You are not among those who vote on {id}.", f"Those are: {electors}.")
    option = proposal.option(choice)
    if ballot.choice == option:
        return Cast(proposal, option, is_new=False)
    if ballot.choice is not None:
        label = proposal.terms.options[ballot.choice]
        raise AlreadyVoted(f'You already voted for "{label}".', "Votes cannot be changed.")
    _check_open(tx, proposal)
    number = len(proposal.votes) + 1
    tx.run(sql.vote, id=id, agent=voter, choice=option, reason=reason, number=number, now=tx.now)
    tx.announce(Event(proposal.terms.stream, CAST, id, {"by": ballot.name, "choice": option}, is_quiet=True))
    voted = proposals.get(tx, id)
    return Cast(_resolved(tx, voted, "votes") if voted.has_quorum else voted, option, is_new=True)


def decide(tx: Tx, id: ProposalId, choice: str, by: AgentId | None) -> Cast:
    """Break a tie: for the creator, or (None) for the operator."""
    proposal = _held(tx, id)
    _check_creator(proposal, by, "decide")
    option = proposal.option(choice)
    if (proposal.outcome.resolved_by, proposal.outcome.winner) == ("creator", option):
        return Cast(proposal, option, is_new=False)
    _check_open(tx, proposal)
    if not proposal.tied:
        raise NotTied(f"There is no tie to decide in {id}.", "Wait for the votes, or cast yours.")
    if option not in proposal.tied:
        raise OptionUnknown(f"{option!r} is not among those that are tied.", f"Those are: {', '.join(proposal.tied)}.")
    closed = _close(tx, proposal, _ended(tx, proposal, "resolved", "creator", winner=option))
    return Cast(closed, option, is_new=True)


def expire(tx: Tx, id: ProposalId) -> Proposal | None:
    """Its time is up: resolved by the votes there are, expired without any or without a quorum that was asked for.
    None if it was over before."""
    proposal = _held(tx, id)
    if not proposal.is_open:
        return None
    is_short = proposal.terms.is_quorum_required and not proposal.has_quorum
    if is_short or not proposal.votes:
        return _close(tx, proposal, _ended(tx, proposal, "expired", "timeout"))
    return _resolved(tx, proposal, "timeout")


def cancel(tx: Tx, id: ProposalId, by: AgentId | None, reason: str = "") -> Proposal | None:
    """Take it back: for the creator, or (None) for the operator. None if it was cancelled before."""
    proposal = _held(tx, id)
    _check_creator(proposal, by, "cancel")
    if proposal.outcome.status == "cancelled":
        return None
    if not proposal.is_open:
        raise ProposalClosed(f"{id} is {proposal.outcome.status} already.", "It cannot be cancelled any more.")
    ended = _ended(tx, proposal, "cancelled", "creator" if by else "system")
    return _close(tx, proposal, replace(ended, reason=reason))


def _held(tx: Tx, id: ProposalId) -> Proposal:
    tx.lock("proposals", id)
    return proposals.get(tx, id)


def _check_open(tx: Tx, proposal: Proposal) -> None:
    if not proposal.is_open:
        raise ProposalClosed(f"{proposal.id} is {proposal.outcome.status}.", "See proposal_status for the result.")
    if tx.now >= proposal.terms.expires_at:  # a moment before the timer has come round
        ended = clock.to_iso(proposal.terms.expires_at)
        raise ProposalClosed(f"The time to vote on {proposal.id} ended at {ended}.", "See proposal_status.")


def _check_creator(proposal: Proposal, by: AgentId | None, deed: str) -> None:
    if by is not None and by != proposal.terms.creator_id:
        raise NotAllowed(f"Only {proposal.terms.creator} can {deed} {proposal.id}.", "Ask for it in the channel.")


def _resolved(tx: Tx, proposal: Proposal, by: ResolvedBy) -> Proposal:
    """By the votes there are; still open if the creator has to decide and has time left."""
    if by == "votes" and proposal.tied:
        return proposal
    ended = _ended(tx, proposal, "resolved", by)
    if proposal.terms.type == "assignment":
        given = tally.assigned((vote.voter, vote.choice) for vote in proposal.votes)
        return _close(tx, proposal, replace(ended, assignments=given))
    found = proposal.leaders
    if len(found) <= 1:
        return _close(tx, proposal, replace(ended, winner=found[0] if found else None))
    match proposal.terms.tie_breaker:
        case "first":
            return _close(tx, proposal, replace(ended, winner=found[0]))
        case "random":
            seed = tx.new_id("lot")
            return _close(tx, proposal, replace(ended, winner=tally.drawn(found, seed), seed=seed))
        case "creator-decides":  # who has let the time pass
            return _close(tx, proposal, ended)


def _ended(tx: Tx, proposal: Proposal, status: Status, by: ResolvedBy, winner: str | None = None) -> Outcome:
    return replace(proposal.outcome, status=status, resolved_by=by, winner=winner, closed_at=tx.now)


def _close(tx: Tx, proposal: Proposal, outcome: Outcome) -> Proposal:
    tx.run(
        sql.close,
        id=proposal.id,
        status=outcome.status,
        winner=outcome.winner,
        seed=outcome.seed,
        assignments=json.dumps(outcome.assignments),
        resolved_by=outcome.resolved_by,
        reason=outcome.reason,
        now=tx.now,
    )
    facts = {"purpose": proposal.terms.purpose, "winner": outcome.winner, "status": outcome.status}
    tx.announce(Event(proposal.terms.stream, CLOSED, proposal.id, facts))
    return replace(proposal, outcome=outcome)
