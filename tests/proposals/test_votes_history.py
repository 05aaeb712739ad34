"""Votes that come at once from several processes: what each was answered fits one order, in which nothing is lost.

Every recorded vote is answered with its number, so that the order is known and only has to be checked.
"""

import asyncio
import time
from dataclasses import dataclass
from itertools import combinations

import pytest

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import AgentId, ProposalId
from moot.proposals import proposals, votes
from moot.proposals.proposals import Elector, Proposal
from moot.store.store import Store
from tests.proposals.assembly import Motion, convene

VOTERS = tuple(Elector(AgentId(f"ag_{number}"), f"voter{number}") for number in range(8))


@dataclass(frozen=True)
class Answer:
    """What somebody was told, and when it had asked and was told."""

    asked: float
    told: float
    deed: str  # vote or read
    voter: str = ""
    number: int = 0  # votes there were, with this one
    is_new: bool = False
    is_open: bool = True
    code: str = ""


def faults(history: list[Answer], final: Proposal, quorum: int) -> list[str]:
    """What cannot have happened in any one order of these calls."""
    found: list[str] = []
    recorded = sorted((one for one in history if one.deed == "vote" and one.is_new), key=lambda one: one.number)
    if [one.number for one in recorded] != list(range(1, len(recorded) + 1)):
        found.append(f"votes were counted as {[one.number for one in recorded]}")
    if [one.voter for one in recorded] != [one.voter for one in final.votes]:
        found.append("the votes that were recorded are not those that were answered")
    if any(later.told < earlier.asked for earlier, later in combinations(recorded, 2)):
        found.append("a vote has a number before one that had been answered before it was cast")
    if any(one.is_open != (one.number < quorum) for one in recorded):
        found.append("it did not end with the vote that completed the quorum")
    for look in (one for one in history if one.deed == "read"):
        least = sum(one.told < look.asked for one in recorded)
        most = sum(one.asked < look.told for one in recorded)
        if not least <= look.number <= most:
            found.append(f"somebody saw {look.number} votes where there were {least} to {most}")
    last = next((one for one in recorded if not one.is_open), None)
    closed = [one for one in history if one.code == "PROPOSAL_CLOSED"]
    if any(last is None or one.told < last.asked for one in closed):
        found.append("somebody was told of the end before it")
    return found


async def attempt(store: Store, id: ProposalId, voter: Elector, choice: str) -> Answer:
    asked = time.monotonic()
    try:
        cast = await store.write(lambda tx: votes.vote(tx, id, voter.agent, choice), caller=SYSTEM)
    except MootError as error:
        return Answer(asked, time.monotonic(), "vote", voter.name, code=error.code)
    told = time.monotonic()
    return Answer(asked, told, "vote", voter.name, len(cast.proposal.votes), cast.is_new, cast.proposal.is_open)


async def look(store: Store, id: ProposalId) -> Answer:
    asked = time.monotonic()
    found = await store.read(lambda tx: proposals.get(tx, id))
    return Answer(asked, time.monotonic(), "read", number=len(found.votes))


@pytest.mark.parametrize("quorum", [5, 8])
async def test_what_voters_are_answered_fits_one_order(store: Store, neighbour: Store, quorum: int) -> None:
    assembly = await convene(store)
    for _ in range(4):
        id = (await assembly.propose(Motion(quorum=quorum, electors=VOTERS))).id
        calls = [
            attempt(place, id, voter, choice)
            for voter in VOTERS
            for place, choice in ((store, "red"), (neighbour, "red"), (neighbour, "blue"))
        ]
        looks = [look(place, id) for place in (store, neighbour) * 12]
        mixed = [one for pair in zip(calls, looks, strict=True) for one in pair]
        async with asyncio.timeout(60):
            history = list(await asyncio.gather(*mixed))
        final = await assembly.get(id)
        assert faults(history, final, quorum) == []
        assert len(final.votes) == quorum
        assert final.outcome.status == "resolved"
    assert len(await assembly.closings()) == 4


async def test_the_check_finds_a_lost_vote_an_early_end_and_a_view_of_the_past(store: Store) -> None:
    """Histories of a store that would be broken."""
    assembly = await convene(store)
    made = await assembly.propose(Motion(quorum=2, electors=VOTERS[:2]))
    await assembly.vote(made.id, VOTERS[0], "red")
    await assembly.vote(made.id, VOTERS[1], "red")
    final = await assembly.get(made.id)
    first = Answer(1, 2, "vote", "voter0", 1, is_new=True)
    second = Answer(3, 4, "vote", "voter1", 2, is_new=True, is_open=False)
    assert faults([first, second], final, 2) == []
    broken = [
        [first, Answer(3, 4, "vote", "voter1", 1, is_new=True)],  # both were the first
        [first],  # one was recorded that nobody cast
        [Answer(3, 4, "vote", "voter0", 1, is_new=True), Answer(1, 2, "vote", "voter1", 2, is_new=True, is_open=False)],
        [first, Answer(3, 4, "vote", "voter1", 2, is_new=True)],  # complete, and still open
        [first, second, Answer(5, 6, "read", number=1)],
        [first, second, Answer(0, 0.5, "read", number=1)],
        [first, second, Answer(2.1, 2.2, "vote", "voter1", code="PROPOSAL_CLOSED")],
    ]
    for history in broken:
        assert faults(history, final, 2) != [], history
