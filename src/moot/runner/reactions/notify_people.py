"""A message was posted: for each person it is for, a job tells them, if a command for that is configured."""

from moot.core.events import StoredEvent
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry.agents import Agent

NOTIFY = "notify"


def notify(tx: Tx, agent: Agent, event: StoredEvent) -> None:
    if agent.backend == "human":
        # A person is told once or not at all: nobody knows what a command has done whose host died.
        key, facts = f"notify:{event.subject}:{agent.id}", {"message": event.subject}
        jobs.add(tx, NewJob(key, NOTIFY, event.stream, agent.id, facts, on_loss="unknown"))
