"""What was given up: parked mail and failed tasks, to be tried again, or mail that nobody is to read any more."""

from collections.abc import Sequence

from moot.api import control
from moot.api.access import Access
from moot.api.targets import Target
from moot.bus import mailbox, messages
from moot.core.errors import MootError
from moot.core.ids import AgentId, MessageId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances, runs
from moot.registry.agents import Agent
from moot.runner import handing_out
from moot.runner.reactions.wake_agents import wake


class NothingParked(MootError):
    """Nobody was given this in vain."""

    code = "NOTHING_PARKED"


async def retry(access: Access, target: Target) -> dict[str, int]:
    """Hand out parked mail again, as if it were new; how much for whom. Of a whole instance, also the tasks that have
    failed."""

    def change(tx: Tx) -> dict[str, int]:
        instance = instances.get(tx, target.instance)
        members = agents.members(tx, instance.stream)
        chosen = [agents.named(tx, instance.stream, target.agent)] if target.agent else members
        revived = {agent.name: _revive(tx, agent) for agent in chosen}
        tried = {} if target.agent else handing_out.retry(tx, runs.latest(tx, instance.name))
        return {name: count for name, count in revived.items() if count} | tried

    return await control.write(access, change)


def _revive(tx: Tx, agent: Agent) -> int:
    count = mailbox.revive(tx, agent.id)
    if count:
        wake(tx, agent)
    return count


async def retry_message(access: Access, id: MessageId) -> list[str]:
    """Hand out one message again, to all for whom it is parked; who that is. NothingParked if there is nobody."""

    def change(tx: Tx) -> list[str]:
        message = messages.get(tx, id)
        found = _named(tx, id, mailbox.revive_message(tx, message.stream, message.seq))
        for agent in found:
            wake(tx, agent)
        return [agent.name for agent in found]

    return await control.write(access, change)


async def drop_message(access: Access, id: MessageId) -> list[str]:
    """Nobody for whom this message is parked will read it; who that is. NothingParked if there is nobody."""

    def change(tx: Tx) -> list[str]:
        message = messages.get(tx, id)
        found = _named(tx, id, mailbox.drop_message(tx, message.stream, message.seq))
        tx.wake()
        return [agent.name for agent in found]

    return await control.write(access, change)


def _named(tx: ReadTx, id: MessageId, found: Sequence[AgentId]) -> list[Agent]:
    if not found:
        raise NothingParked(f"The message {id} is parked for nobody.", "What is, moot inbox NAME shows.")
    return [agents.get(tx, one) for one in found]
