"""Stopping: an agent that is stopped keeps its mail, and nobody wakes it until it is released."""

from typing import Literal

from moot.core.events import Event
from moot.core.ids import AgentId, RunId
from moot.core.tx import ReadTx, Tx
from moot.registry.agents import Agent
from moot.store import queries

sql = queries.beside(__file__)


def stop(tx: Tx, agent: Agent) -> bool:
    """False if it was stopped already, or has left."""
    is_stopped = bool(tx.run(sql.stop, id=agent.id, now=tx.now))
    if is_stopped:
        tx.announce(Event(agent.stream, "agent_stopped", agent.id, {"name": agent.name}, is_quiet=True))
    return is_stopped


def release(tx: Tx, agent: Agent) -> bool:
    """False if it was not stopped, or has left."""
    is_released = bool(tx.run(sql.release, id=agent.id))
    if is_released:
        tx.announce(Event(agent.stream, "agent_released", agent.id, {"name": agent.name}, is_quiet=True))
    return is_released


def asked(tx: ReadTx, agent: AgentId, run: RunId | None) -> Literal["stop", "shutdown"] | None:
    """Whether an agent, or the run that it works for, is to come to an end; or is left by whoever attended it, to be
    resumed."""
    found = tx.maybe(sql.asked, str, agent=agent, run=run)
    return None if found is None else "stop" if found == "stop" else "shutdown"
