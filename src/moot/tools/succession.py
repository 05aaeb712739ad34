"""Succession: who registers under a name takes the place, and the unread mail, of those whom nobody speaks for.

Outside a run a name may have several bearers and the newest is meant, so that a client which registers anew with every
session leaves an agent behind each time, whose mail nobody reads.
"""

from moot.bus import mailbox
from moot.core.ids import TokenId
from moot.core.tx import Tx
from moot.registry import agents, tokens
from moot.registry.agents import Agent, NewAgent
from moot.registry.instances import Instance
from moot.tools import attendance


def join(tx: Tx, instance: Instance, new: NewAgent) -> Agent:
    """Register an agent; bearers of its name who will not come back leave before it."""
    tx.lock("instances", instance.name)
    forsaken = agents.forsaken(tx, instance.stream, new.name)
    for agent in forsaken:
        agents.unregister(tx, agent.id)
    newcomer = agents.register(tx, instance, new)
    for agent in forsaken:
        _bequeath(tx, agent)
    return newcomer


def revoke(tx: Tx, token: TokenId) -> None:
    """Take a token back; an agent that stops with it leaves if somebody has taken its name meanwhile."""
    for id in tokens.revoke(tx, token):
        agent = agents.get(tx, id)
        newest = agents.find(tx, agent.stream, agent.name)
        if newest is not None and newest.id != id:
            agents.unregister(tx, id)
            _bequeath(tx, agent)
        attendance.settle(tx, agent.instance)


def _bequeath(tx: Tx, agent: Agent) -> None:
    """Of somebody who has left: no mail is under way to it any more."""
    heir = agents.find(tx, agent.stream, agent.name)
    if heir is not None:
        mailbox.inherit(tx, agent.id, heir.id)
    mailbox.bury(tx, agent.id)
    tokens.revoke_of_agent(tx, agent.id)
