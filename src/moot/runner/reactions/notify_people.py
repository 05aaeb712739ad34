"""A message was posted: for each person it is for, a job tells them, if a command for that is configured."""

from typing import cast

from moot.core.events import StoredEvent
from moot.core.ids import AgentId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import agents

NOTIFY = "notify"


def notify_people(tx: Tx, event: StoredEvent) -> None:
    for id in cast(list[str], event.data["to"]):
        if agents.get(tx, AgentId(id)).backend == "human":
            # A person is told once or not at all: nobody knows what a command has done whose host died.
            new = NewJob(f"notify:{event.subject}:{id}", NOTIFY, event.stream, id, {"message": event.subject},
                         on_loss="unknown")  # fmt: skip
            jobs.add(tx, new)
