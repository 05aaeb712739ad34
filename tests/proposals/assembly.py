"""An instance with voters, and short ways to propose and vote, for tests of proposals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from moot.core.ids import AgentId, InstanceName, ProposalId, StreamId
from moot.core.tx import Tx
from moot.proposals import proposals, votes
from moot.proposals.proposals import Elector, NewProposal, Proposal, Purpose, Type
from moot.proposals.tally import Rule, TieBreaker
from moot.proposals.votes import Cast
from moot.registry import instances
from moot.store.store import Store
from tests.registry.house import House, build

ANN, BOB, EVE = (Elector(AgentId(f"ag_{name}"), name) for name in ("ann", "bob", "eve"))
EVERYBODY = (ANN, BOB, EVE)
COLOURS = {"red": "Red wine", "blue": "Blue sky"}


@dataclass(frozen=True)
class Motion:
    """What is proposed by ann, unless a test says otherwise."""

    type: Type = "decision"
    options: Mapping[str, str] = field(default_factory=lambda: COLOURS)
    rule: Rule = "plurality"
    quorum: int | None = None
    tie_breaker: TieBreaker = "first"
    electors: tuple[Elector, ...] = EVERYBODY
    purpose: Purpose = ""
    seconds: float = 60

    def new(self, stream: StreamId) -> NewProposal:
        return NewProposal(
            stream=stream,
            instance=InstanceName("default"),
            type=self.type,
            title="Which colour?",
            creator="ann",
            creator_id=ANN.agent,
            electors=self.electors,
            options=self.options,
            rule=self.rule,
            quorum=self.quorum,
            tie_breaker=self.tie_breaker,
            lasts=timedelta(seconds=self.seconds),
            purpose=self.purpose,
        )


@dataclass(frozen=True)
class Assembly:
    house: House

    async def propose(self, motion: Motion | None = None) -> Proposal:
        new = (motion or Motion()).new(self.house.stream)
        return await self.house.write(lambda tx: proposals.propose(tx, new))

    async def vote(self, id: ProposalId, voter: Elector, choice: str, reason: str = "") -> Cast:
        return await self.house.write(lambda tx: votes.vote(tx, id, voter.agent, choice, reason))

    async def expire(self, id: ProposalId) -> Proposal | None:
        return await self.house.write(lambda tx: votes.expire(tx, id))

    async def cancel(self, id: ProposalId, by: Elector | None, reason: str = "") -> Proposal | None:
        agent = by.agent if by else None
        return await self.house.write(lambda tx: votes.cancel(tx, id, agent, reason))

    async def decide(self, id: ProposalId, by: Elector | None, choice: str) -> Cast:
        agent = by.agent if by else None
        return await self.house.write(lambda tx: votes.decide(tx, id, choice, agent))

    async def get(self, id: ProposalId) -> Proposal:
        return await self.house.read(lambda tx: proposals.get(tx, id))

    async def closings(self) -> list[dict[str, object]]:
        """What was told of proposals that ended."""
        events = await self.house.events()
        return [{"id": one.subject, **one.data} for one in events if one.kind == votes.CLOSED]


async def convene(store: Store) -> Assembly:
    return Assembly(await build(store))


def opened(tx: Tx, motion: Motion | None = None) -> Proposal:
    """Proposed in a fresh stream, within a test's own transaction."""
    instance = instances.ensure(tx, "default")
    return proposals.propose(tx, (motion or Motion()).new(instance.stream))
