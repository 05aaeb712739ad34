"""Votes that come at once from several processes: what each was answered could have happened one after the other."""

import asyncio
from dataclasses import dataclass
from functools import partial

import pytest

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import AgentId, ProposalId
from moot.proposals import proposals, votes
from moot.proposals.proposals import Elector
from moot.store.store import Store
from tests.linearizable import History, Operation, is_linearizable
from tests.proposals.assembly import Motion, convene

VOTERS = tuple(Elector(AgentId(f"ag_{number}"), f"voter{number}") for number in range(5))
QUORUM = 4


@dataclass(frozen=True)
class Asked:
    """A vote, or with nobody a look."""

    voter: str = ""
    choice: str = ""


@dataclass(frozen=True)
class Answered:
    votes: tuple[tuple[str, str], ...]  # in order, as far as they were cast
    is_new: bool = False
    code: str = ""


Votes = tuple[tuple[str, str], ...]


def step(state: Votes, asked: Asked, answered: Answered | None) -> Votes | None:
    """The votes after it; None if nobody can be answered this after these votes."""
    assert answered is not None
    if not asked.voter:
        return state if answered.votes == state else None
    mine = dict(state).get(asked.voter)
    if mine is not None:
        expected = Answered(state) if mine == asked.choice else Answered((), code="ALREADY_VOTED")
        return state if answered == expected else None
    if len(state) == QUORUM:
        return state if answered == Answered((), code="PROPOSAL_CLOSED") else None
    after = (*state, (asked.voter, asked.choice))
    return after if answered == Answered(after, is_new=True) else None


async def cast(store: Store, id: ProposalId, voter: Elector, choice: str) -> Answered:
    try:
        found = await store.write(lambda tx: votes.vote(tx, id, voter.agent, choice), caller=SYSTEM)
    except MootError as error:
        return Answered((), code=error.code)
    return Answered(tuple((one.voter, one.choice) for one in found.proposal.votes), found.is_new)


async def look(store: Store, id: ProposalId) -> Answered:
    found = await store.read(lambda tx: proposals.get(tx, id))
    return Answered(tuple((one.voter, one.choice) for one in found.votes))


async def test_what_concurrent_voters_are_answered_could_have_happened_in_turn(store: Store, neighbour: Store) -> None:
    assembly = await convene(store)
    for _ in range(5):
        id = (await assembly.propose(Motion(quorum=QUORUM, electors=VOTERS))).id
        history = History[Asked, Answered]()
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for voter in VOTERS:
                for place, choice in ((store, "red"), (neighbour, "red"), (neighbour, "blue")):
                    ask = partial(cast, place, id, voter, choice)
                    group.create_task(history.run(Asked(voter.name, choice), ask))
                group.create_task(history.run(Asked(), partial(look, neighbour, id)))
        assert is_linearizable(history.operations, (), step)
        assert len((await assembly.get(id)).votes) == QUORUM
    assert len(await assembly.closings()) == 5


RED0, RED1 = ("voter0", "red"), ("voter1", "red")
FIRST = Operation(Asked(*RED0), Answered((RED0,), is_new=True), 1, 2)
SECOND = Operation(Asked(*RED1), Answered((RED0, RED1), is_new=True), 3, 4)


@pytest.mark.parametrize(
    "broken",
    [
        [FIRST, Operation(Asked(*RED1), Answered((RED1,), is_new=True), 1, 4)],
        [FIRST, SECOND, Operation(Asked(), Answered((RED0,)), 5, 6)],
        [FIRST, SECOND, Operation(Asked(), Answered((RED0,)), 0, 0.5)],
        [FIRST, Operation(Asked(*RED0), Answered((RED0,), is_new=True), 1, 4)],
        [FIRST, Operation(Asked(*RED1), Answered((), code="PROPOSAL_CLOSED"), 3, 4)],
        [Operation(Asked(*RED1), Answered((RED0, RED1), is_new=True), 0, 0.5), FIRST],
    ],
    ids=["a lost vote", "the past", "the future", "twice", "closed too early", "before its time"],
)
def test_answers_that_cannot_have_been_given_in_turn_are_found(broken: list[Operation[Asked, Answered]]) -> None:
    assert is_linearizable([FIRST, SECOND], (), step)
    assert not is_linearizable(broken, (), step)
