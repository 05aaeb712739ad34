"""A message was posted: the agents it is for, and that moot starts, get a job to read their mail."""

from moot.core.ids import AttemptId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import runs
from moot.registry.agents import Agent
from moot.registry.runs import Run

ATTEMPT = "attempt"


def wake(tx: Tx, agent: Agent, *, after: AttemptId | None = None) -> None:
    """Have the agent read its mail, once more if it is reading right now; `after` an attempt that was broken off."""
    if may_run(agent, runs.live(tx, agent.instance)):
        facts = {} if after is None else {"after": after}
        jobs.add(tx, NewJob(attempt_key(agent), ATTEMPT, agent.stream, agent.id, facts))


def may_run(agent: Agent, run: Run | None) -> bool:
    """Whether moot starts it, nobody has stopped it or paused the live run, and the run is set up."""
    if not agent.is_started_by_moot or agent.stopped_at is not None or agent.left_at is not None:
        return False
    return run is None or not (run.is_paused or run.phase == "setup")


def attempt_key(agent: Agent) -> str:
    """An agent reads its mail in one attempt at a time."""
    return f"attempt:{agent.id}"
