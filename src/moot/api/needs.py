"""What needs somebody: requests that wait for an answer, votes that are not cast, unread mail."""

from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.proposals import proposals
from moot.proposals.proposals import Proposal
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.requests import requests
from moot.requests.requests import Request

_MOST = 20  # messages of each
Need = Request | Proposal | Mail


@record
class Needs:
    requests: tuple[Request, ...] = ()
    votes: tuple[Proposal, ...] = ()
    mail: tuple[Mail, ...] = ()  # that asks for neither


def of_operator(tx: ReadTx, instance: Instance, person: Agent | None) -> Needs:
    """Of the person at the terminal, who answers requests for every person."""
    asked = [one for one in requests.open_of(tx, instance.stream) if one.is_for_person]
    return _around(tx, instance, asked, person)


def of_agent(tx: ReadTx, instance: Instance, agent: Agent) -> Needs:
    """Of one who answers for nobody else."""
    return _around(tx, instance, list(requests.open_for(tx, instance.stream, agent.id)), agent)


def _around(tx: ReadTx, instance: Instance, asked: list[Request], who: Agent | None) -> Needs:
    if who is None:
        return Needs(tuple(asked))
    votes = [one for one in proposals.open_of(tx, instance.stream) if _may_vote(one, who)]
    told = {one.message for one in asked} | {one.terms.message for one in votes}
    mail = [one for one in mailbox.unread(tx, who.id, _MOST) if one.id not in told]
    return Needs(tuple(asked), tuple(votes), tuple(mail))


def _may_vote(one: Proposal, who: Agent) -> bool:
    ballot = one.ballot_of(who.id)
    return ballot is not None and ballot.choice is None
