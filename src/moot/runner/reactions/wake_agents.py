"""A message was posted: the agents it is for, and that moot starts, get a job to read their mail."""

from typing import cast

from moot.core.events import StoredEvent
from moot.core.ids import AgentId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import agents
from moot.registry.agents import Agent

ATTEMPT = "attempt"


def wake_agents(tx: Tx, event: StoredEvent) -> None:
    for id in cast(list[str], event.data["to"]):
        wake(tx, agents.get(tx, AgentId(id)))


def wake(tx: Tx, agent: Agent) -> None:
    """Have the agent read its mail, once more if it is reading right now."""
    if agent.is_started_by_moot and agent.stopped_at is None and agent.left_at is None:
        jobs.add(tx, NewJob(f"attempt:{agent.id}", ATTEMPT, agent.stream, agent.id))
