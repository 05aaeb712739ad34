"""What is voted on in the caller's instance, and the caller's own vote."""

import re

from moot.api import rights
from moot.api.access import Access
from moot.api.connection import Connection
from moot.bus.mailbox import Mail
from moot.core import text
from moot.core.ids import AgentId, ProposalId
from moot.core.tx import ReadTx, Tx
from moot.proposals import proposals
from moot.proposals.errors import ProposalNotFound
from moot.proposals.proposals import Proposal
from moot.proposals.votes import Cast
from moot.registry import instances
from moot.registry.agents import Agent
from moot.tools import voting
from moot.tools.voting import Paper


async def all_of(access: Access, *, is_open: bool) -> list[Proposal]:
    """What can be voted on, or everything that ever could."""

    def look(tx: ReadTx) -> list[Proposal]:
        instance = instances.find(tx, access.caller.instance)
        if instance is None:
            return []
        return proposals.open_of(tx, instance.stream) if is_open else proposals.all_of(tx, instance.stream)

    return await access.store.read(look)


async def get(access: Access, id: ProposalId) -> Proposal:
    def look(tx: ReadTx) -> Proposal:
        instance = instances.find(tx, access.caller.instance)
        if instance is None:
            raise ProposalNotFound(f"There is no proposal {id[:80]!r} here.", "See moot vote --all.")
        return proposals.get(tx, id, instance.stream)

    return await access.store.read(look)


async def asked_by(connection: Connection, mail: Mail) -> Proposal | None:
    """The proposal that the caller is asked to vote on by this mail, and has not voted on."""

    def look(tx: ReadTx) -> Proposal | None:
        voter = connection.whose(tx, None)
        found = [one for one in proposals.open_of(tx, mail.stream) if one.terms.message == mail.id]
        ballot = found[0].ballot_of(voter.id) if found and voter else None
        return found[0] if ballot is not None and ballot.choice is None else None

    return await connection.store.read(look)


def choice_of(proposal: Proposal, words: str) -> tuple[str, str]:
    """What a line says to a proposal: `yes, the tests pass` is an option with a reason; OptionUnknown."""
    spellings = sorted((one for pair in proposal.terms.options.items() for one in pair), key=len, reverse=True)
    for spelling in spellings:
        found = re.match(rf"\s*{re.escape(spelling)}(?!\w)[\s,.;:!-]*", words, re.IGNORECASE)
        if found:
            return spelling, words[found.end() :].strip()
    return proposal.option(words.strip()), ""


async def vote(access: Access, id: ProposalId, choice: str, reason: str) -> Cast:
    """As the person, or as the agent whose token is in the environment."""
    paper = Paper(id, choice, text.clean(reason, "reason", limit=10_000), access.caller.attempt)

    def change(tx: Tx) -> Cast:
        instance, voter = rights.actor(tx, access.caller)
        return voting.cast(tx, instance, voter, paper)

    return await access.store.write(change, caller=access.caller)


async def decide(access: Access, id: ProposalId, choice: str) -> Cast:
    def change(tx: Tx) -> Cast:
        instance, agent = rights.actor(tx, access.caller)
        return voting.decide(tx, instance, id, choice, _rights(access, agent))

    return await access.store.write(change, caller=access.caller)


async def cancel(access: Access, id: ProposalId, reason: str) -> Proposal:
    told = text.clean(reason, "reason", limit=10_000)

    def change(tx: Tx) -> Proposal:
        instance, agent = rights.actor(tx, access.caller)
        return voting.cancel(tx, instance, id, _rights(access, agent), told)

    return await access.store.write(change, caller=access.caller)


def _rights(access: Access, agent: Agent) -> AgentId | None:
    """On whose proposals this caller may act: its own, the operator on all."""
    return None if access.caller.role == "operator" else agent.id
