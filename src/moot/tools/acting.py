"""Whom a call acts for: an agent acts for itself, an operator for the person or for agents it registered."""

from collections.abc import Collection

from moot.core.caller import Caller
from moot.core.errors import NotAllowed
from moot.core.ids import AgentId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.registry.instances import Instance


def instance_of(tx: Tx, caller: Caller) -> Instance:
    return instances.ensure(tx, caller.instance)


def hand(caller: Caller) -> str:
    """Through what a caller acts, which holds what it has claimed: its token, if it needs one."""
    return caller.token or caller.agent or agents.PERSON


def agent_for(tx: Tx, caller: Caller, agent_id: str | None) -> Agent:
    """The agent that is meant; the person behind an operator is made known on first use."""
    found = known_agent_for(tx, caller, agent_id)
    return found or agents.person(tx, instance_of(tx, caller))


def known_agent_for(tx: ReadTx, caller: Caller, agent_id: str | None) -> Agent | None:
    """Like `agent_for`, but reading only: None for a person who has not been heard of."""
    found = subject(tx, caller, agent_id)
    return found and agents.present(found)


def subject(tx: ReadTx, caller: Caller, agent_id: str | None) -> Agent | None:
    """The agent that a call is about, even if it has left; NotAllowed if it is not the caller's to act for."""
    if agent_id is None:
        if caller.agent is not None:
            return agents.get(tx, caller.agent)
        instance = instances.find(tx, caller.instance)
        return instance and agents.find(tx, instance.stream, agents.PERSON)
    agent = agents.get(tx, AgentId(agent_id))
    if not _is_own(caller, agent):
        raise NotAllowed(
            f"{caller.name} may not act for {agent.name}.",
            "Leave agent_id out, or register the agent yourself.",
        )
    return agent


def is_own(tx: ReadTx, caller: Caller, id: AgentId) -> bool:
    """Whether an agent is the caller, or one that it acts for."""
    if id == caller.agent:
        return True
    agent = agents.get(tx, id)
    return _is_own(caller, agent) or (caller.agent is None and agent.name == agents.PERSON)


def own(tx: ReadTx, caller: Caller, ids: Collection[AgentId]) -> set[AgentId]:
    """Those that are the caller, or agents that it acts for. Who acts for nobody is not compared with each."""
    if caller.agent is not None and caller.role != "operator":
        return {caller.agent} & set(ids)
    return {id for id in set(ids) if is_own(tx, caller, id)}


def _is_own(caller: Caller, agent: Agent) -> bool:
    is_registered_here = caller.role == "operator" and agent.registered_by == caller.token and caller.token is not None
    return agent.id == caller.agent or is_registered_here
