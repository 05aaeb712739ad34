"""A message was posted: everybody it is for hears of it, who moot starts by a job, a person as is configured."""

from typing import cast

from moot.core.events import StoredEvent
from moot.core.ids import AgentId
from moot.core.tx import Tx
from moot.registry import agents
from moot.runner.reactions.notify_people import notify
from moot.runner.reactions.wake_agents import wake


def reach_agents(tx: Tx, event: StoredEvent) -> None:
    for id in cast(list[str], event.data["to"]):
        agent = agents.get(tx, AgentId(id))
        wake(tx, agent)
        notify(tx, agent, event)
