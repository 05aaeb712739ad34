"""Who decides for others: people and, in a team, its lead. A lead from outside is the person's own agent and speaks for
the person; one that moot starts may take rights away, and never gives any."""

from moot.core.permissions import Answer, Permissions
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.teams import teams
from moot.tools import membership

_WIDTH: tuple[Answer, ...] = ("deny", "ask", "allow")


def decides(tx: ReadTx, agent: Agent | None) -> bool:
    """Whether others do as this one says; `None` is moot itself."""
    return agent is None or agent.backend == "human" or membership.part_of(tx, agent) == "lead"


def speaks_for_person(tx: ReadTx, agent: Agent) -> bool:
    is_from_outside = agent.backend == "external" and membership.part_of(tx, agent) == "lead"
    return agent.backend == "human" or is_from_outside


def person_for(tx: Tx, agent: Agent) -> Agent:
    """Who permits what an agent wants to do: the lead of its team if it speaks for the person, else the person."""
    team = teams.find(tx, agent.instance)
    lead = None if team is None else agents.find(tx, team.stream, team.lead)
    if lead is not None and lead.id != agent.id and speaks_for_person(tx, lead):
        return lead
    return agents.person(tx, instances.get(tx, agent.instance))


def is_wider(wanted: Permissions, held: Permissions) -> bool:
    """Whether anything is allowed, or may be asked for, that was not before."""
    pairs = ((wanted.edit, held.edit), (wanted.shell, held.shell), (wanted.network, held.network))
    return any(_WIDTH.index(new) > _WIDTH.index(old) for new, old in pairs)
