"""Proposals behave like a few lines of Python over dictionaries, whatever is done to them in whatever order."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from moot.core.errors import MootError
from moot.core.ids import AgentId, ProposalId
from moot.core.tx import ReadTx
from moot.proposals import proposals, votes
from moot.proposals.proposals import Proposal
from moot.registry import instances
from tests.modelled import DATABASES, Bench, bench
from tests.proposals.assembly import ANN, BOB, EVE, EVERYBODY, Motion, opened

STRANGER = AgentId("ag_mallory")
VOTERS = st.sampled_from([ANN.agent, BOB.agent, EVE.agent, STRANGER])
CHOICES = st.sampled_from(["red", "blue", "green"])
MOTIONS = st.builds(
    Motion,
    type=st.sampled_from(["decision", "decision", "decision", "assignment"]),
    rule=st.sampled_from(["plurality", "majority", "unanimous"]),
    quorum=st.sampled_from([None, 1, 2, 3]),
    tie_breaker=st.sampled_from(["first", "random", "creator-decides"]),
).map(lambda one: Motion("assignment", quorum=one.quorum) if one.type == "assignment" else one)
OPTIONS = ("red", "blue")
NAMES = {one.agent: one.name for one in EVERYBODY}


@dataclass
class Expected:
    """A proposal as the model sees it."""

    motion: Motion
    expires_at: datetime
    votes: dict[AgentId, str] = field(default_factory=dict[AgentId, str])  # in order
    status: str = "active"
    winners: tuple[str | None, ...] = (None,)  # any of these
    assignments: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def leaders(self) -> tuple[str, ...]:
        counted = Counter(self.votes.values())
        most = max(counted.values(), default=0)
        needed = {"plurality": 1, "majority": len(self.votes) // 2 + 1, "unanimous": max(len(self.votes), 1)}
        if self.motion.type == "assignment" or most < needed[self.motion.rule]:
            return ()
        return tuple(one for one in OPTIONS if counted[one] == most)

    @property
    def is_complete(self) -> bool:
        return len(self.votes) >= (self.motion.quorum or len(EVERYBODY))

    @property
    def is_tied(self) -> bool:
        is_awaited = self.motion.tie_breaker == "creator-decides" and self.status == "active"
        return is_awaited and self.is_complete and len(self.leaders) > 1

    def resolve(self) -> None:
        self.status = "resolved"
        leaders = self.leaders
        if self.motion.type == "assignment":
            for voter, choice in self.votes.items():
                self.assignments.setdefault(choice, NAMES[voter])
        elif len(leaders) == 1 or (leaders and self.motion.tie_breaker == "first"):
            self.winners = leaders[:1]
        elif leaders and self.motion.tie_breaker == "random":
            self.winners = leaders


class VotesModel(RuleBasedStateMachine):
    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.known: dict[ProposalId, Expected] = {}

    @property
    def now(self) -> datetime:
        return self.bench.clock.now()

    def any_of(self, data: st.DataObject) -> tuple[ProposalId, Expected] | None:
        recent = self.recent
        return data.draw(st.sampled_from(recent)) if recent else None

    @property
    def recent(self) -> list[tuple[ProposalId, Expected]]:
        """Those to which something can still be done."""
        return list(self.known.items())[-3:]

    def refused(self, error: MootError | None, code: str | None) -> None:
        assert (error.code if error else None) == code

    @rule(motion=MOTIONS)
    def propose(self, motion: Motion) -> None:
        made = self.bench.write(lambda tx: opened(tx, motion))
        assert made.id not in self.known
        self.known[made.id] = Expected(motion, self.now + timedelta(seconds=motion.seconds))

    @rule(seconds=st.sampled_from([1, 20, 61]))
    def time_goes_by(self, seconds: int) -> None:
        self.bench.clock.advance(seconds)

    @rule(data=st.data(), voter=VOTERS, choice=CHOICES)
    def vote(self, data: st.DataObject, voter: AgentId, choice: str) -> None:
        found = self.any_of(data)
        if found is None:
            return
        id, one = found
        code = None
        is_new = one.votes.get(voter) != choice
        if voter == STRANGER:
            code = "NOT_AN_ELECTOR"
        elif choice not in OPTIONS:
            code = "OPTION_UNKNOWN"
        elif voter in one.votes:
            code = "ALREADY_VOTED" if is_new else None
        elif one.status != "active" or self.now >= one.expires_at:
            code = "PROPOSAL_CLOSED"
        try:
            cast = self.bench.write(lambda tx: votes.vote(tx, id, voter, choice))
        except MootError as error:
            self.refused(error, code)
            return
        self.refused(None, code)
        assert cast.is_new == is_new
        if is_new:
            one.votes[voter] = choice
            if one.is_complete and not one.is_tied:
                one.resolve()

    @rule(data=st.data())
    def everybody_votes(self, data: st.DataObject) -> None:
        found = self.any_of(data)
        if found is not None:
            for voter in EVERYBODY:
                self.vote_on(found[0], voter.agent, data.draw(st.sampled_from(OPTIONS)))

    def vote_on(self, id: ProposalId, voter: AgentId, choice: str) -> None:
        one = self.known[id]
        if voter in one.votes or one.status != "active" or self.now >= one.expires_at:
            return
        self.bench.write(lambda tx: votes.vote(tx, id, voter, choice))
        one.votes[voter] = choice
        if one.is_complete and not one.is_tied:
            one.resolve()

    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        found = self.any_of(data)
        if found is None:
            return
        id, one = found
        ended = self.bench.write(lambda tx: votes.expire(tx, id))
        assert (ended is not None) == (one.status == "active")
        if ended is None:
            return
        if not one.votes or (one.motion.quorum is not None and not one.is_complete):
            one.status = "expired"
        else:
            one.resolve()

    @rule(data=st.data(), by=st.sampled_from([ANN.agent, BOB.agent, None]))
    def cancel(self, data: st.DataObject, by: AgentId | None) -> None:
        found = self.any_of(data)
        if found is None:
            return
        id, one = found
        code = None
        if by == BOB.agent:
            code = "NOT_ALLOWED"
        elif one.status in ("resolved", "expired"):
            code = "PROPOSAL_CLOSED"
        try:
            self.bench.write(lambda tx: votes.cancel(tx, id, by))
        except MootError as error:
            self.refused(error, code)
            return
        self.refused(None, code)
        one.status = "cancelled"

    @rule(data=st.data(), choice=st.sampled_from(OPTIONS))
    def decide(self, data: st.DataObject, choice: str) -> None:
        found = self.any_of(data)
        if found is None:
            return
        id, one = found
        if not (one.is_tied and self.now < one.expires_at):
            return
        self.bench.write(lambda tx: votes.decide(tx, id, choice, ANN.agent))
        one.status, one.winners = "resolved", (choice,)

    @invariant()
    def the_store_agrees(self) -> None:
        """About the recent ones: in an example that does little else than propose, all of them are many each time."""
        self.agree_on(dict(self.recent))

    def teardown(self) -> None:
        """What nothing was done to any more has not changed; and none stays open, or each example would see more."""
        self.agree_on(self.known)
        for id, one in self.known.items():
            if one.status == "active":
                self.bench.write(lambda tx, id=id: votes.cancel(tx, id, None))

    def agree_on(self, known: dict[ProposalId, Expected]) -> None:
        def look(tx: ReadTx) -> tuple[list[Proposal], set[ProposalId]]:
            stream = instances.get(tx, "default").stream
            is_open = {one.id for one in proposals.open_of(tx, stream)}
            assert proposals.has_open(tx, stream) == bool(is_open)
            return [proposals.get(tx, id) for id in known], is_open

        if not known:
            return
        found, is_open = self.bench.read(look)
        for stored, one in zip(found, known.values(), strict=True):
            assert [(vote.voter, vote.choice) for vote in stored.votes] == [
                (NAMES[voter], choice) for voter, choice in one.votes.items()
            ]
            assert stored.outcome.status == one.status
            assert stored.outcome.winner in one.winners
            assert stored.outcome.assignments == one.assignments
            assert bool(stored.tied) == one.is_tied
            assert (stored.id in is_open) == (one.status == "active")
            assert (stored.outcome.seed is None) == (len(one.winners) == 1)


@pytest.mark.parametrize("database", DATABASES)
def test_proposals_behave_like_their_model(request: pytest.FixtureRequest, database: str) -> None:
    with bench(database, request) as used:

        class OnThisStore(VotesModel):
            def __init__(self) -> None:
                super().__init__(used)

        run_state_machine_as_test(OnThisStore, settings=used.settings)
