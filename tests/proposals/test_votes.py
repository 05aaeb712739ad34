"""Votes are final and counted once; a proposal ends by votes, by its time, or by its creator."""

import pytest

from moot.core.errors import MootError, NotAllowed
from moot.core.ids import AgentId, ProposalId
from moot.proposals import tally, votes
from moot.proposals.errors import (
    AlreadyVoted,
    NotAnElector,
    NotTied,
    OptionUnknown,
    ProposalClosed,
    ProposalNotFound,
)
from moot.proposals.proposals import Elector, Proposal
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.proposals.assembly import ANN, BOB, EVE, EVERYBODY, Assembly, Motion, convene

STRANGER = Elector(AgentId("ag_mallory"), "mallory")


async def voted(assembly: Assembly, motion: Motion, choices: str) -> Proposal:
    """The choices (`r`, `b`) of ann, bob and eve, in this order; `-` does not vote."""
    made = await assembly.propose(motion)
    names = {"r": "red", "b": "blue"}
    for voter, choice in zip(EVERYBODY, choices, strict=False):
        if choice != "-":
            await assembly.vote(made.id, voter, names[choice])
    return await assembly.get(made.id)


def told(one: Proposal) -> tuple[str, str | None, str | None]:
    return one.outcome.status, one.outcome.winner, one.outcome.resolved_by


async def test_the_last_vote_of_the_quorum_resolves(store: Store, clock: ManualClock) -> None:
    assembly = await convene(store)
    made = await assembly.propose()
    clock.advance(1)
    assert told((await assembly.vote(made.id, ANN, "red")).proposal) == ("active", None, None)
    assert told((await assembly.vote(made.id, BOB, "blue")).proposal) == ("active", None, None)
    assert await assembly.closings() == []
    cast = await assembly.vote(made.id, EVE, "blue")
    assert (cast.choice, cast.label, cast.is_new) == ("blue", "Blue sky", True)
    assert told(cast.proposal) == ("resolved", "blue", "votes")
    assert cast.proposal == await assembly.get(made.id)
    assert cast.proposal.outcome.closed_at == clock.now()
    assert await assembly.closings() == [
        {"id": "prop-001", "purpose": "", "winner": "blue", "status": "resolved"},
    ]


@pytest.mark.parametrize(
    ("motion", "choices", "expected"),
    [
        (Motion(), "rrb", ("resolved", "red", "votes")),
        (Motion(rule="majority"), "rrb", ("resolved", "red", "votes")),
        (Motion(rule="unanimous"), "rrb", ("resolved", None, "votes")),
        (Motion(rule="unanimous"), "bbb", ("resolved", "blue", "votes")),
        (Motion(quorum=2), "b", ("active", None, None)),
        (Motion(quorum=2), "br", ("resolved", "red", "votes")),
        (Motion(quorum=1), "b", ("resolved", "blue", "votes")),
        (Motion(quorum=2, rule="majority"), "br", ("resolved", None, "votes")),
        (Motion(quorum=2, tie_breaker="creator-decides"), "br", ("active", None, None)),
        (Motion(quorum=2, tie_breaker="creator-decides"), "bb", ("resolved", "blue", "votes")),
        (Motion(quorum=2, rule="majority", tie_breaker="creator-decides"), "br", ("resolved", None, "votes")),
        (Motion("election", options={"red": "@red", "blue": "@blue"}), "bbr", ("resolved", "blue", "votes")),
    ],
)
async def test_rule_quorum_and_tie_breaker(
    store: Store, motion: Motion, choices: str, expected: tuple[str, str | None, str | None]
) -> None:
    assert told(await voted(await convene(store), motion, choices)) == expected


@pytest.mark.parametrize(
    ("motion", "choices", "expected"),
    [
        (Motion(), "", ("expired", None, "timeout")),
        (Motion(), "b", ("resolved", "blue", "timeout")),
        (Motion(), "br", ("resolved", "red", "timeout")),
        (Motion(rule="unanimous"), "bb", ("resolved", "blue", "timeout")),
        (Motion(rule="majority"), "br", ("resolved", None, "timeout")),
        (Motion(quorum=2), "b", ("expired", None, "timeout")),
        (Motion(quorum=3), "bb", ("expired", None, "timeout")),
        (Motion(quorum=2, tie_breaker="creator-decides"), "br", ("resolved", None, "timeout")),
        (Motion(tie_breaker="creator-decides"), "br", ("resolved", None, "timeout")),
        (Motion(tie_breaker="creator-decides"), "b", ("resolved", "blue", "timeout")),
    ],
)
async def test_when_the_time_is_up(
    store: Store, motion: Motion, choices: str, expected: tuple[str, str | None, str | None]
) -> None:
    assembly = await convene(store)
    made = await voted(assembly, motion, choices)
    expired = await assembly.expire(made.id)
    assert expired is not None
    assert expired == await assembly.get(made.id)
    assert told(expired) == expected
    assert [one["status"] for one in await assembly.closings()] == [expected[0]]


async def test_what_is_over_does_not_expire(store: Store) -> None:
    assembly = await convene(store)
    made = await voted(assembly, Motion(), "bbb")
    assert await assembly.expire(made.id) is None
    assert await assembly.get(made.id) == made
    assert len(await assembly.closings()) == 1


async def test_a_lot_is_recorded_and_can_be_drawn_again(store: Store) -> None:
    assembly = await convene(store)
    winners: set[str | None] = set()
    for _ in range(20):
        made = await voted(assembly, Motion(quorum=2, tie_breaker="random"), "br")
        assert made.outcome.seed is not None
        assert made.outcome.winner == tally.drawn(("red", "blue"), made.outcome.seed)
        winners.add(made.outcome.winner)
    assert winners == {"red", "blue"}
    assert (await voted(assembly, Motion(tie_breaker="random"), "bbr")).outcome.seed is None


async def test_everyone_gets_the_task_it_chose_and_of_two_the_first(store: Store) -> None:
    assembly = await convene(store)
    made = await assembly.propose(Motion("assignment", options={"db": "Database", "api": "API", "ui": "UI"}))
    for voter, choice in ((EVE, "api"), (ANN, "db"), (BOB, "api")):
        await assembly.vote(made.id, voter, choice)
    ended = await assembly.get(made.id)
    assert told(ended) == ("resolved", None, "votes")
    assert ended.outcome.assignments == {"api": "eve", "db": "ann"}


async def test_an_assignment_whose_time_is_up_gives_what_was_chosen(store: Store) -> None:
    assembly = await convene(store)
    made = await assembly.propose(Motion("assignment"))
    await assembly.vote(made.id, BOB, "red")
    ended = await assembly.expire(made.id)
    assert ended is not None
    assert (told(ended), ended.outcome.assignments) == (("resolved", None, "timeout"), {"red": "bob"})


async def test_the_same_vote_again_changes_nothing_even_after_the_end(store: Store) -> None:
    assembly = await convene(store)
    made = await assembly.propose(Motion(quorum=2))
    await assembly.vote(made.id, ANN, "red", "first")
    again = await assembly.vote(made.id, ANN, "@Red", "second")
    assert (again.is_new, again.choice, len(again.proposal.votes)) == (False, "red", 1)
    assert again.proposal.votes[0].reason == "first"
    await assembly.vote(made.id, BOB, "red")
    before = await assembly.house.events()
    assert not (await assembly.vote(made.id, BOB, "red")).is_new
    assert await assembly.house.events() == before


async def test_votes_that_do_not_count_are_refused_and_change_nothing(store: Store, clock: ManualClock) -> None:
    assembly = await convene(store)
    made = await assembly.propose()
    await assembly.vote(made.id, ANN, "red")
    await assembly.propose(Motion(electors=(ANN,)))
    closed = await voted(assembly, Motion(), "rrr")
    late = await assembly.propose(Motion(seconds=5))
    clock.advance(5)
    before = [await assembly.get(id) for id in (made.id, closed.id, late.id)]
    refused: list[tuple[ProposalId, Elector, str, type[MootError]]] = [
        (made.id, ANN, "blue", AlreadyVoted),
        (made.id, STRANGER, "red", NotAnElector),
        (ProposalId("prop-002"), BOB, "red", NotAnElector),
        (made.id, BOB, "green", OptionUnknown),
        (made.id, BOB, "", OptionUnknown),
        (closed.id, ANN, "blue", AlreadyVoted),
        (closed.id, STRANGER, "red", NotAnElector),
        (late.id, BOB, "red", ProposalClosed),
        (ProposalId("prop-099"), BOB, "red", ProposalNotFound),
        (ProposalId(""), BOB, "red", ProposalNotFound),
    ]
    for id, voter, choice, error in refused:
        with pytest.raises(error):
            await assembly.vote(id, voter, choice)
    assert [await assembly.get(id) for id in (made.id, closed.id, late.id)] == before


@pytest.mark.parametrize("end", ["expire", "cancel"])
async def test_after_the_end_nobody_votes(store: Store, end: str) -> None:
    assembly = await convene(store)
    made = await assembly.propose()
    await (assembly.expire(made.id) if end == "expire" else assembly.cancel(made.id, ANN))
    with pytest.raises(ProposalClosed, match=r"expired|cancelled"):
        await assembly.vote(made.id, BOB, "red")


async def test_the_creator_or_the_operator_cancels_once(store: Store) -> None:
    assembly = await convene(store)
    for by, resolved_by in ((ANN, "creator"), (None, "system")):
        made = await assembly.propose()
        await assembly.vote(made.id, BOB, "red")
        with pytest.raises(NotAllowed):
            await assembly.cancel(made.id, BOB)
        cancelled = await assembly.cancel(made.id, by, "changed my mind")
        assert cancelled is not None
        assert cancelled == await assembly.get(made.id)
        assert told(cancelled) == ("cancelled", None, resolved_by)
        assert (cancelled.outcome.reason, len(cancelled.votes)) == ("changed my mind", 1)
        assert await assembly.cancel(made.id, by) is None
        assert await assembly.expire(made.id) is None
    assert [one["status"] for one in await assembly.closings()] == ["cancelled", "cancelled"]


async def test_what_is_resolved_cannot_be_cancelled(store: Store) -> None:
    assembly = await convene(store)
    made = await voted(assembly, Motion(), "rrr")
    with pytest.raises(ProposalClosed, match="resolved already"):
        await assembly.cancel(made.id, ANN)
    assert await assembly.get(made.id) == made


async def tie(assembly: Assembly) -> Proposal:
    made = await assembly.propose(Motion(quorum=2, tie_breaker="creator-decides", options={**TIED, "green": "Green"}))
    await assembly.vote(made.id, BOB, "red")
    return (await assembly.vote(made.id, EVE, "blue")).proposal


TIED = {"red": "Red", "blue": "Blue"}


async def test_a_tie_waits_for_its_creator(store: Store) -> None:
    assembly = await convene(store)
    made = await tie(assembly)
    assert (told(made), made.tied) == (("active", None, None), ("red", "blue"))
    decided = await assembly.decide(made.id, ANN, "blue")
    assert (told(decided.proposal), decided.is_new) == (("resolved", "blue", "creator"), True)
    assert decided.proposal == await assembly.get(made.id)
    assert decided.proposal.tied == ()
    assert not (await assembly.decide(made.id, ANN, "blue")).is_new
    assert len(await assembly.closings()) == 1


async def test_the_vote_of_the_creator_breaks_a_tie(store: Store) -> None:
    assembly = await convene(store)
    made = await tie(assembly)
    cast = await assembly.vote(made.id, ANN, "red")
    assert told(cast.proposal) == ("resolved", "red", "votes")


async def test_a_vote_beside_the_tie_leaves_it(store: Store) -> None:
    assembly = await convene(store)
    made = await tie(assembly)
    cast = await assembly.vote(made.id, ANN, "green")
    assert (told(cast.proposal), cast.proposal.tied) == (("active", None, None), ("red", "blue", "green"))
    assert told((await assembly.decide(made.id, None, "green")).proposal) == ("resolved", "green", "creator")


@pytest.mark.parametrize(
    ("by", "choice", "error"),
    [(BOB, "red", NotAllowed), (ANN, "green", OptionUnknown), (ANN, "nothing", OptionUnknown)],
    ids=["another", "not tied", "no option"],
)
async def test_who_may_not_decide_or_decides_nonsense_is_refused(
    store: Store, by: Elector, choice: str, error: type[MootError]
) -> None:
    assembly = await convene(store)
    made = await tie(assembly)
    with pytest.raises(error):
        await assembly.decide(made.id, by, choice)
    assert await assembly.get(made.id) == made


async def test_nothing_is_decided_without_a_tie_or_too_late(store: Store, clock: ManualClock) -> None:
    assembly = await convene(store)
    made = await assembly.propose(Motion(quorum=2, tie_breaker="creator-decides"))
    await assembly.vote(made.id, BOB, "red")
    with pytest.raises(NotTied):
        await assembly.decide(made.id, ANN, "red")
    late = await tie(assembly)
    clock.advance(60)
    with pytest.raises(ProposalClosed):
        await assembly.decide(late.id, ANN, "red")


async def test_a_vote_is_told_with_who_and_what(store: Store) -> None:
    assembly = await convene(store)
    made = await assembly.propose()
    await assembly.vote(made.id, BOB, "red", "because")
    (event,) = [one for one in await assembly.house.events() if one.kind == votes.CAST]
    assert (event.subject, event.data) == (made.id, {"by": "bob", "choice": "red"})
