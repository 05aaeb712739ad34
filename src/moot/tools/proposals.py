"""Proposals: putting something to the vote, voting, and how it stands."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, FailFast, Field
from pydantic.alias_generators import to_camel

from moot.core.errors import InvalidInput
from moot.core.ids import AgentId, ProposalId
from moot.core.tool import EVERYONE, WRITERS, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.proposals import plain, proposals
from moot.proposals.errors import ProposalNotFound
from moot.proposals.proposals import NewProposal, Proposal, ResolvedBy, Status, Type
from moot.proposals.tally import Rule, TieBreaker
from moot.proposals.votes import Cast
from moot.registry import instances
from moot.registry.agents import Agent
from moot.tools import acting, voting
from moot.tools.shapes import LONGEST, Arguments, For, Id, Line, Name, Result, clean, listed, written
from moot.tools.voting import Paper

Prose = Annotated[str, Field(max_length=10_000), AfterValidator(clean)]
Choice = Annotated[Id, Field(description="The id of an option.")]


class Option(Arguments):
    id: Line
    label: Line


class Resolution(Arguments):
    model_config = ConfigDict(populate_by_name=True)

    type: Annotated[Rule, Field(description="plurality: most votes; majority: more than half; unanimous: all.")] = (
        "plurality"
    )
    quorum: Annotated[int | None, Field(ge=1, le=100_000, description="Least number of votes; default: all.")] = None
    tie_breaker: Annotated[TieBreaker, Field(alias="tieBreaker")] = "first"


class Create(Arguments):
    model_config = ConfigDict(populate_by_name=True)

    type: Type
    title: Line
    description: Prose = ""
    options: Annotated[
        tuple[Option, ...],
        Field(max_length=100, strict=False, description="Not needed for election (the voters) and approval (yes, no)."),
        FailFast(),
    ] = ()
    resolution: Resolution = Resolution()
    binding: bool = False
    timeout_seconds: Annotated[float, Field(alias="timeoutSeconds", ge=1, le=LONGEST)] = 60
    electors: Annotated[
        tuple[Name, ...],
        Field(max_length=1000, strict=False, description="Who may vote; default: every agent that is here now."),
        FailFast(),
    ] = ()
    agent_id: For = None


class Vote(Arguments):
    proposal: Annotated[Id, Field(description="The proposal's id.")]
    choice: Choice
    reason: Prose = ""
    decide: Annotated[bool, Field(description="Only for the creator: break a tie.")] = False
    agent_id: For = None


class VoteOwner(Arguments):
    choice: Annotated[Id, Field(description="The agent who should keep the documents.")]
    reason: Prose = ""
    agent_id: For = None


class Look(Arguments):
    proposal: Annotated[Id | None, Field(description="A proposal's id; default: all that are open.")] = None


class Cancel(Arguments):
    proposal: Id
    reason: Prose = ""
    agent_id: For = None


class Camel(Result):
    model_config = ConfigDict(alias_generator=to_camel)


class OptionCard(Camel):
    id: str
    label: str


class ResolutionCard(Camel):
    type: Rule
    quorum: int
    tie_breaker: TieBreaker


class ResultCard(Camel):
    winner: str | None = None
    votes: Mapping[str, str]
    counts: Mapping[str, int]
    reasons: Mapping[str, str]
    tied: tuple[str, ...] | None = None
    assignments: Mapping[str, str] | None = None
    seed: str | None = None
    reason: str | None = None
    resolved_at: str | None = None
    resolved_by: ResolvedBy | None = None


class ProposalCard(Camel):
    """A proposal as everyone sees it."""

    id: str
    type: Type
    title: str
    description: str
    options: tuple[OptionCard, ...]
    created_by: str
    created_at: str
    expires_at: str
    resolution: ResolutionCard
    binding: bool
    status: Status
    electors: tuple[str, ...]
    result: ResultCard


class ProposalCards(Result):
    """One proposal if it was asked for, else all that are open."""

    proposals: tuple[ProposalCard, ...]
    proposal: ProposalCard | None = None


class Voted(Result):
    status: Literal["recorded", "already recorded", "decided"]
    choice: str
    label: str
    votes: int
    quorum: int
    proposal: ProposalCard


async def create(call: Call, arguments: Create) -> ProposalCard:
    options = {one.id: one.label for one in arguments.options}
    if len(options) < len(arguments.options):
        raise InvalidInput("Two options have the same id.", "Give each its own.")

    def change(tx: Tx) -> ProposalCard:
        creator = acting.agent_for(tx, call.caller, arguments.agent_id)
        instance = acting.instance_of(tx, call.caller)
        new = NewProposal(
            stream=instance.stream,
            instance=instance.name,
            type=arguments.type,
            title=arguments.title,
            description=arguments.description,
            options=options,
            creator=creator.name,
            creator_id=creator.id,
            electors=voting.electorate(tx, instance, arguments.electors),
            rule=arguments.resolution.type,
            quorum=arguments.resolution.quorum,
            tie_breaker=arguments.resolution.tie_breaker,
            is_binding=arguments.binding,
            lasts=timedelta(seconds=arguments.timeout_seconds),
        )
        return card(voting.start(tx, instance, new))

    return await call.write(change)


async def vote(call: Call, arguments: Vote) -> Voted:
    def change(tx: Tx) -> Voted:
        voter = acting.agent_for(tx, call.caller, arguments.agent_id)
        instance = acting.instance_of(tx, call.caller)
        id = ProposalId(arguments.proposal)
        if arguments.decide:
            decided = voting.decide(tx, instance, id, arguments.choice, _rights(call, voter))
            return _voted(decided, "decided")
        paper = Paper(id, arguments.choice, arguments.reason, call.caller.attempt)
        found = voting.cast(tx, instance, voter, paper)
        return _voted(found, "recorded" if found.is_new else "already recorded")

    return await call.write(change)


async def vote_owner(call: Call, arguments: VoteOwner) -> Voted:
    def change(tx: Tx) -> Voted:
        voter = acting.agent_for(tx, call.caller, arguments.agent_id)
        instance = acting.instance_of(tx, call.caller)
        election = proposals.latest_for(tx, instance.stream, "document_owner")
        if election is None:
            raise ProposalNotFound("No owner of the documents is being elected.", "See proposal_status.")
        paper = Paper(election.id, arguments.choice, arguments.reason, call.caller.attempt)
        found = voting.cast(tx, instance, voter, paper)
        return _voted(found, "recorded" if found.is_new else "already recorded")

    return await call.write(change)


async def status(call: Call, arguments: Look) -> ProposalCards:
    def look(tx: ReadTx) -> ProposalCards:
        instance = instances.find(tx, call.caller.instance)
        if arguments.proposal is None:
            found = proposals.open_of(tx, instance.stream) if instance else []
            return ProposalCards(proposals=tuple(card(one) for one in found))
        stream = instance.stream if instance else instances.get(tx, call.caller.instance).stream
        one = card(proposals.get(tx, ProposalId(arguments.proposal), stream))
        return ProposalCards(proposals=(one,), proposal=one)

    return await call.read(look)


async def cancel(call: Call, arguments: Cancel) -> ProposalCard:
    def change(tx: Tx) -> ProposalCard:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        instance = acting.instance_of(tx, call.caller)
        id = ProposalId(arguments.proposal)
        return card(voting.cancel(tx, instance, id, _rights(call, agent), arguments.reason))

    return await call.write(change)


def _rights(call: Call, agent: Agent) -> AgentId | None:
    """On whose proposals this caller may act: its own, the operator on all."""
    return None if call.caller.role == "operator" else agent.id


def card(proposal: Proposal) -> ProposalCard:
    return ProposalCard.model_validate(plain.proposal(proposal))


def _voted(found: Cast, status: Literal["recorded", "already recorded", "decided"]) -> Voted:
    return Voted(
        status=status,
        choice=found.choice,
        label=found.label,
        votes=len(found.proposal.votes),
        quorum=found.proposal.terms.quorum,
        proposal=card(found.proposal),
    )


def _told(result: Voted) -> str:
    match result.status:
        case "recorded":
            return f"Vote recorded. {result.votes}/{result.quorum} votes received."
        case "already recorded":
            return f'Vote already recorded for "{result.label}".'
        case "decided":
            return f'Decided for "{result.label}".'


def _listed(result: ProposalCards) -> str:
    if result.proposal is not None:
        return written(result.proposal)
    return listed(result.proposals)


TOOLS = (
    Tool(
        name="proposal_create",
        group="proposals",
        words="Put something to the vote. Those who may vote are asked, you too; you are told of the result.",
        effect="store",
        arguments=Create,
        result=ProposalCard,
        function=create,
        text=written,
        roles=WRITERS,
    ),
    Tool(
        name="vote",
        group="proposals",
        words="Vote on a proposal, once; votes cannot be changed.",
        effect="store",
        arguments=Vote,
        result=Voted,
        function=vote,
        text=_told,
        roles=WRITERS,
    ),
    Tool(
        name="proposal_status",
        group="proposals",
        words="See how a proposal stands, or all that are open.",
        effect="none",
        arguments=Look,
        result=ProposalCards,
        function=status,
        text=_listed,
        roles=EVERYONE,
    ),
    Tool(
        name="proposal_cancel",
        group="proposals",
        words="Take back a proposal that you made.",
        effect="store",
        arguments=Cancel,
        result=ProposalCard,
        function=cancel,
        text=lambda result: "Proposal cancelled",
        roles=WRITERS,
    ),
    Tool(
        name="document_vote_owner",
        group="proposals",
        words="Vote for who should keep the documents.",
        effect="store",
        arguments=VoteOwner,
        result=Voted,
        function=vote_owner,
        text=_told,
        roles=WRITERS,
        is_hidden=True,
    ),
)
