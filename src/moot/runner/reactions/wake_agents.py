"""A message was posted: the agents it is for, and that moot starts, get a job to read their mail."""

from typing import cast

from moot.core.events import StoredEvent
from moot.core.ids import AgentId, AttemptId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import agents, runs
from moot.registry.agents import Agent

ATTEMPT = "attempt"


def wake_agents(tx: Tx, event: StoredEvent) -> None:
    for id in cast(list[str], event.data["to"]):
        wake(tx, agents.get(tx, AgentId(id)))


def wake(tx: Tx, agent: Agent, *, after: AttemptId | None = None) -> None:
    """Have the agent read its mail, once more if it is reading right now; `after` an attempt that was broken off."""
    if may_run(tx, agent):
        facts = {} if after is None else {"after": after}
        jobs.add(tx, NewJob(attempt_key(agent), ATTEMPT, agent.stream, agent.id, facts))


def may_run(tx: ReadTx, agent: Agent) -> bool:
    """Whether moot starts it, nobody has stopped it or paused its run, and the run is set up."""
    if not agent.is_started_by_moot or agent.stopped_at is not None or agent.left_at is not None:
        return False
    run = runs.live(tx, agent.instance)
    return run is None or not (run.is_paused or run.phase == "setup")


def attempt_key(agent: Agent) -> str:
    """An agent reads its mail in one attempt at a time."""
    return f"attempt:{agent.id}"
