"""What is known of all agents of an instance at once: their mail, what they have used, what they said last."""

from collections.abc import Mapping

from moot.bus import mailbox, windows
from moot.bus.mailbox import Counts
from moot.bus.messages import Message
from moot.core.ids import AgentId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.ledger import usage
from moot.ledger.usage import Usage
from moot.registry import runs
from moot.registry.agents import Agent
from moot.registry.instances import Instance


@record
class Around:
    mail: Mapping[AgentId, Counts]
    used: Mapping[AgentId, Usage]  # in the last run
    used_outside: Mapping[AgentId, Usage]
    words: Mapping[str, Message]

    def used_by(self, agent: Agent) -> Usage:
        return self.used.get(agent.id) or self.used_outside.get(agent.id) or Usage()


def of(tx: ReadTx, instance: Instance) -> Around:
    run = runs.latest(tx, instance.name)
    return Around(
        mailbox.counts(tx, instance.stream),
        usage.by_agent(tx, run.id) if run else {},
        usage.by_agent(tx, instance.stream),
        windows.last_words(tx, instance.stream),
    )
