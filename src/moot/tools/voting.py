"""Putting something to the vote, voting and the end of it, with what the channel hears, each in one transaction.

What others have written into a proposal (title, options, reasons) is data and wakes nobody. Those who may vote are
asked by mail, which their vote acknowledges; the creator is told of the end, if it was not its own doing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from moot.bus import mailbox, messages
from moot.bus.messages import Kind
from moot.core.ids import AgentId, AttemptId, ProposalId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.documents import ownership
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.proposals import proposals, votes
from moot.proposals.proposals import Elector, NewProposal, Proposal
from moot.proposals.votes import Cast
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.tools import talk
from moot.tools.talk import Words

EXPIRE = "expire_proposal"  # the kind of job that ends a proposal whose time is up
ELECTION_LASTS = timedelta(seconds=30)


@record
class Paper:
    """A vote as it is handed in."""

    proposal: ProposalId
    choice: str
    reason: str = ""
    attempt: AttemptId | None = None


def electorate(tx: Tx, instance: Instance, named: Sequence[str] = ()) -> tuple[Elector, ...]:
    """Those who are named, people too; else every agent that is here now."""
    if named:
        chosen = [_named(tx, instance, name) for name in named]
    else:
        chosen = [one for one in agents.members(tx, instance.stream) if _votes(one, tx.now)]
    return tuple({one.id: Elector(one.id, one.name) for one in chosen}.values())


def _named(tx: Tx, instance: Instance, name: str) -> Agent:
    is_person = name.casefold() == agents.PERSON
    return agents.person(tx, instance) if is_person else agents.named(tx, instance.stream, name)


def _votes(agent: Agent, now: datetime) -> bool:
    return agent.backend not in ("human", "service") and agent.role != "observer" and agent.presence(now) != "offline"


def start(tx: Tx, instance: Instance, new: NewProposal) -> Proposal:
    """Propose it, ask those who may vote, and have it end in time."""
    made = proposals.propose(tx, new)
    terms = made.terms
    jobs.add(tx, NewJob(_timer(made.id), EXPIRE, terms.stream, made.id, run_at=terms.expires_at))
    names = tuple(one.name for one in made.ballots)
    said = talk.say(tx, instance, None, Words(_question(made), to=names, kind="question", spoken=""))
    proposals.asked(tx, made.id, said.message.id)
    return proposals.get(tx, made.id)


def start_election(tx: Tx, instance: Instance, electors: Sequence[Agent]) -> Proposal:
    """Have the owner of the documents elected; until that has ended, nobody writes them."""
    new = NewProposal(
        stream=instance.stream,
        instance=instance.name,
        type="election",
        title="Document Owner Election",
        description="Whoever is elected keeps the documents: only the owner writes them, the others suggest.",
        creator="system",
        electors=tuple(Elector(one.id, one.name) for one in electors),
        is_binding=True,
        lasts=ELECTION_LASTS,
        purpose="document_owner",
    )
    made = start(tx, instance, new)
    ownership.elect(tx, instance.name, made.id)
    return made


def cast(tx: Tx, instance: Instance, voter: Agent, paper: Paper) -> Cast:
    """Vote, and say so."""
    proposals.get(tx, paper.proposal, instance.stream)
    found = votes.vote(tx, paper.proposal, voter.id, paper.choice, paper.reason)
    if not found.is_new:
        return found
    _settle(tx, found.proposal)
    _answered(tx, voter, found.proposal)
    because = f" ({_one_line(paper.reason)})" if paper.reason else ""
    body = f'[VOTE:{paper.proposal}] I vote for "{found.label}"{because}'
    message = found.proposal.terms.message
    talk.say(tx, instance, voter, Words(body, reply_to=message, attempt=paper.attempt, spoken=""))
    _tell(tx, instance, found.proposal, voter.id)
    return found


def decide(tx: Tx, instance: Instance, id: ProposalId, choice: str, by: AgentId | None) -> Cast:
    """Break a tie, as its creator or (None) as the operator."""
    proposals.get(tx, id, instance.stream)
    found = votes.decide(tx, id, choice, by)
    if found.is_new:
        _settle(tx, found.proposal)
        _tell(tx, instance, found.proposal, by)
    return found


def cancel(tx: Tx, instance: Instance, id: ProposalId, by: AgentId | None, reason: str = "") -> Proposal:
    """Take it back, as its creator or (None) as the operator."""
    proposals.get(tx, id, instance.stream)
    cancelled = votes.cancel(tx, id, by, reason)
    if cancelled is not None:
        _settle(tx, cancelled)
        _tell(tx, instance, cancelled, by)
    return cancelled or proposals.get(tx, id)


def expire(tx: Tx, id: ProposalId) -> Proposal | None:
    """Its time is up; None if it was over before. The timer itself is for the caller to close."""
    expired = votes.expire(tx, id)
    if expired is not None:
        _apply(tx, expired)
        _tell(tx, instances.get(tx, expired.terms.instance), expired, None)
    return expired


def _settle(tx: Tx, proposal: Proposal) -> None:
    """What has ended takes effect, and needs no timer any more."""
    if not proposal.is_open:
        _apply(tx, proposal)
        jobs.cancel(tx, _timer(proposal.id))


def _apply(tx: Tx, proposal: Proposal) -> None:
    """Only moot's own election makes an owner, whatever others call theirs."""
    terms = proposal.terms
    is_ours = terms.purpose == "document_owner"
    if is_ours and ownership.ownership(tx, terms.instance).election == proposal.id:  # and not a later one's
        ownership.give(tx, terms.instance, proposal.outcome.winner)


def _timer(id: ProposalId) -> str:
    return f"expire:{id}"


def _answered(tx: Tx, voter: Agent, proposal: Proposal) -> None:
    """Who has voted need not be woken to vote."""
    if proposal.terms.message is not None:
        question = messages.get(tx, proposal.terms.message, proposal.terms.stream)
        mailbox.ack_one(tx, voter.id, question.seq)


def _tell(tx: Tx, instance: Instance, proposal: Proposal, by: AgentId | None) -> None:
    """The end, or that the creator has to decide."""
    if proposal.is_open and not proposal.tied:
        return
    creator = _creator(tx, proposal, by)
    kind: Kind = "question" if proposal.is_open else "status"
    words = Words(_news(proposal), to=creator, kind=kind, reply_to=proposal.terms.message, spoken="")
    talk.say(tx, instance, None, words)


def _creator(tx: ReadTx, proposal: Proposal, by: AgentId | None) -> tuple[str, ...]:
    """By name, if it is still here and does not know yet. People are only bothered if they have to decide."""
    creator = proposal.terms.creator_id
    if creator is None or creator == by:
        return ()
    found = agents.get(tx, creator)
    is_bothered = found.backend != "human" or proposal.is_open
    return (found.name,) if found.left_at is None and is_bothered else ()


def _question(proposal: Proposal) -> str:
    terms = proposal.terms
    is_owner_election = terms.purpose == "document_owner"
    options = ", ".join(id if label == f"@{id}" else f"{id} = {label}" for id, label in terms.options.items())
    lines = [
        f"[PROPOSAL:{terms.id}] {terms.title}",
        *([" ".join(f"@{one.name}" for one in proposal.ballots)] if is_owner_election else []),
        *(f"> {line}" for line in terms.description.splitlines()),
        f"Type: {terms.type} | Resolution: {terms.rule} | Until: {terms.expires_at:%H:%M:%S} UTC",
        f"Options: {options}",
        f"Vote with: vote({{ proposal: '{terms.id}', choice: '<option-id>' }})",
    ]
    return "\n".join(lines)


def _news(proposal: Proposal) -> str:
    terms, outcome = proposal.terms, proposal.outcome
    match outcome.status:
        case "active":
            between = " and ".join(f'"{terms.options[id]}"' for id in proposal.tied)
            how = f"vote({{ proposal: '{terms.id}', choice: '<option-id>', decide: true }})"
            return f"[TIED:{terms.id}] {terms.title}\nBetween: {between}\n{terms.creator} decides with: {how}"
        case "cancelled":
            because = f": {_one_line(outcome.reason)}" if outcome.reason else ""
            return f"[PROPOSAL:{terms.id}] Cancelled{because}"
        case "expired" if terms.purpose == "document_owner":
            return f"[EXPIRED:{terms.id}] No votes received. Document ownership disabled."
        case "expired":
            received = len(proposal.votes)
            fact = f"{received}/{terms.quorum} votes received." if received else "No votes received."
            return f"[EXPIRED:{terms.id}] {terms.title}\n{fact}"
        case "resolved":
            counted = ", ".join(f"{id}={count}" for id, count in proposal.counts.items() if count)
            return f"[RESOLVED:{terms.id}] {terms.title}\nResult: {result(proposal)}\nVotes: {counted}"


def result(proposal: Proposal) -> str:
    """What came of it, in words for one line."""
    terms, outcome = proposal.terms, proposal.outcome
    if terms.type == "assignment":
        given = [f"{terms.options[id]} → {name}" for id, name in outcome.assignments.items()]
        left = [label for id, label in terms.options.items() if id not in outcome.assignments]
        return "; ".join([*given, *([f"nobody: {', '.join(left)}"] if left else [])])
    if outcome.winner is None:
        return "No winner (tie/no majority)"
    return terms.options[outcome.winner] + (" (by lot)" if outcome.seed else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
