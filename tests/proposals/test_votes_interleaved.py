"""Two transactions that meet over one proposal: no vote is lost, and it ends once."""

import pytest

from moot.core.ids import ProposalId
from moot.core.tx import Tx
from moot.proposals import proposals, votes
from moot.proposals.errors import AlreadyVoted, ProposalClosed
from moot.proposals.proposals import Elector, Proposal
from moot.proposals.votes import Cast
from moot.store.postgres import PostgresStore
from tests.interleave import interleave
from tests.proposals.assembly import ANN, BOB, EVE, Assembly, Motion, convene


async def proposed(store: PostgresStore, motion: Motion | None = None) -> tuple[Assembly, ProposalId]:
    assembly = await convene(store)
    return assembly, (await assembly.propose(motion)).id


def vote(tx: Tx, id: ProposalId, voter: Elector, choice: str) -> Cast:
    return votes.vote(tx, id, voter.agent, choice)


async def test_two_votes_at_once_are_both_counted_and_the_second_resolves(pg_store: PostgresStore) -> None:
    assembly, id = await proposed(pg_store)
    await assembly.vote(id, ANN, "red")
    met = await interleave(pg_store, lambda tx: vote(tx, id, BOB, "blue"), lambda tx: vote(tx, id, EVE, "blue"))
    assert met.second_waited
    assert (len(met.first.proposal.votes), len(met.second.proposal.votes)) == (2, 3)
    assert met.first.proposal.is_open
    assert met.second.proposal.outcome.winner == "blue"
    assert [vote.voter for vote in (await assembly.get(id)).votes] == ["ann", "bob", "eve"]
    assert len(await assembly.closings()) == 1


async def test_two_votes_beyond_the_quorum_end_it_once(pg_store: PostgresStore) -> None:
    assembly, id = await proposed(pg_store, Motion(quorum=1))
    with pytest.raises(ProposalClosed):
        await interleave(pg_store, lambda tx: vote(tx, id, BOB, "blue"), lambda tx: vote(tx, id, EVE, "red"))
    ended = await assembly.get(id)
    assert (ended.outcome.winner, len(ended.votes)) == ("blue", 1)
    assert len(await assembly.closings()) == 1


async def test_one_voter_in_two_places_votes_once(pg_store: PostgresStore) -> None:
    assembly, id = await proposed(pg_store)
    with pytest.raises(AlreadyVoted):
        await interleave(pg_store, lambda tx: vote(tx, id, BOB, "blue"), lambda tx: vote(tx, id, BOB, "red"))
    assert (await assembly.get(id)).choices == ("blue",)
    met = await interleave(pg_store, lambda tx: vote(tx, id, EVE, "red"), lambda tx: vote(tx, id, EVE, "red"))
    assert (met.first.is_new, met.second.is_new) == (True, False)
    assert (await assembly.get(id)).choices == ("blue", "red")


async def test_a_vote_that_comes_before_the_timer_counts(pg_store: PostgresStore) -> None:
    _, id = await proposed(pg_store)
    met = await interleave(pg_store, lambda tx: vote(tx, id, BOB, "blue"), lambda tx: votes.expire(tx, id))
    assert met.second_waited
    assert met.second is not None
    assert (met.second.outcome.status, met.second.outcome.winner) == ("resolved", "blue")


async def test_a_vote_that_comes_after_the_timer_is_refused(pg_store: PostgresStore) -> None:
    assembly, id = await proposed(pg_store)
    with pytest.raises(ProposalClosed, match="expired"):
        await interleave(pg_store, lambda tx: votes.expire(tx, id), lambda tx: vote(tx, id, BOB, "blue"))
    ended = await assembly.get(id)
    assert (ended.outcome.status, ended.votes) == ("expired", ())


async def test_a_proposal_that_the_last_vote_has_resolved_does_not_expire(pg_store: PostgresStore) -> None:
    assembly, id = await proposed(pg_store, Motion(quorum=1))
    met = await interleave(pg_store, lambda tx: vote(tx, id, BOB, "blue"), lambda tx: votes.expire(tx, id))
    assert met.second is None
    assert len(await assembly.closings()) == 1


@pytest.mark.parametrize("first", ["vote", "cancel"])
async def test_a_proposal_that_is_cancelled_during_the_last_vote_ends_once(pg_store: PostgresStore, first: str) -> None:
    assembly, id = await proposed(pg_store, Motion(quorum=1))

    def cancel(tx: Tx) -> Proposal | None:
        return votes.cancel(tx, id, ANN.agent)

    def last(tx: Tx) -> Cast:
        return vote(tx, id, BOB, "blue")

    with pytest.raises(ProposalClosed):
        await (interleave(pg_store, last, cancel) if first == "vote" else interleave(pg_store, cancel, last))
    assert (await assembly.get(id)).outcome.status == ("resolved" if first == "vote" else "cancelled")
    assert len(await assembly.closings()) == 1


async def test_a_tie_is_decided_or_broken_by_a_vote_but_not_both(pg_store: PostgresStore) -> None:
    assembly, id = await proposed(pg_store, Motion(quorum=2, tie_breaker="creator-decides"))
    await assembly.vote(id, ANN, "red")
    await assembly.vote(id, BOB, "blue")
    with pytest.raises(ProposalClosed):
        await interleave(
            pg_store, lambda tx: votes.decide(tx, id, "red", ANN.agent), lambda tx: vote(tx, id, EVE, "blue")
        )
    assert (await assembly.get(id)).outcome.winner == "red"


async def test_two_who_propose_at_once_get_different_ids(pg_store: PostgresStore) -> None:
    assembly = await convene(pg_store)
    new = Motion().new(assembly.house.stream)
    met = await interleave(pg_store, lambda tx: proposals.propose(tx, new), lambda tx: proposals.propose(tx, new))
    assert met.second_waited
    assert (met.first.id, met.second.id) == ("prop-001", "prop-002")
