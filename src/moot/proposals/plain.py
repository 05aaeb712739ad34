"""A proposal as JSON, with the names that tools, files and commands share. Keys are added, never renamed."""

from collections.abc import Sequence

from moot.core import clock
from moot.core.json import Json
from moot.proposals.proposals import Proposal

Plain = dict[str, Json]


def document(found: Sequence[Proposal]) -> Plain:
    """Many of them. The version grows with everything that happens to one: it is made, voted on, closed."""
    version = sum(1 + len(one.votes) + (not one.is_open) for one in found)
    return {"proposals": {one.id: proposal(one) for one in found}, "version": version}


def proposal(one: Proposal) -> Plain:
    terms, outcome = one.terms, one.outcome
    return {
        "id": terms.id,
        "type": terms.type,
        "title": terms.title,
        "description": terms.description,
        "options": [{"id": id, "label": label} for id, label in terms.options.items()],
        "createdBy": terms.creator,
        "createdAt": clock.to_iso(terms.created_at),
        "expiresAt": clock.to_iso(terms.expires_at),
        "resolution": {"type": terms.rule, "quorum": terms.quorum, "tieBreaker": terms.tie_breaker},
        "binding": terms.is_binding,
        "status": outcome.status,
        "electors": [ballot.name for ballot in one.ballots],
        "result": _result(one),
    }


def _result(one: Proposal) -> Plain:
    outcome = one.outcome
    found: Plain = {
        "winner": outcome.winner,
        "votes": {vote.voter: vote.choice for vote in one.votes},
        "counts": one.counts,
        "reasons": {vote.voter: vote.reason for vote in one.votes if vote.reason},
        "tied": one.tied or None,
        "assignments": outcome.assignments or None,
        "seed": outcome.seed,
        "reason": outcome.reason or None,
        "resolvedAt": clock.to_iso(outcome.closed_at) if outcome.closed_at else None,
        "resolvedBy": outcome.resolved_by,
    }
    return {name: value for name, value in found.items() if value is not None}
