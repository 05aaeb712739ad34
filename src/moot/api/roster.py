"""The roster: who there is and what they are doing."""

from collections.abc import Sequence

from moot.core.ids import InstanceName, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import agents, attempts, hosts, instances, runs
from moot.registry.agents import Agent, Presence
from moot.registry.attempts import Attempt
from moot.store.store import Store


@record
class Standing:
    """An agent and what it is doing."""

    agent: Agent
    state: str  # idle, running, stopped; for agents from outside: online, busy, offline
    presence: Presence

    @property
    def needs_host(self) -> bool:
        """Agents from outside come by themselves."""
        return self.agent.backend not in ("external", "human")

    @property
    def source(self) -> str | None:
        """The file it comes from; None for an agent that stands alone."""
        found = self.agent.metadata.get("source")
        return found if isinstance(found, str) and found else None


async def roster(store: Store, instance: InstanceName | None = None, *, is_whole: bool = True) -> list[Standing]:
    """Every agent, in one instance or in all; without the person at the terminal. If it need not be the whole of it,
    also without those who have answered their only question."""

    def look(tx: ReadTx) -> list[Standing]:
        left_out = frozenset[str]() if is_whole or instance else runs.answered(tx)
        chosen = [one for one in instances.all_of(tx) if instance in (None, one.name) and one.name not in left_out]
        return [
            Standing(agent, state(tx, agent), agent.presence(tx.now))
            for one in chosen
            for agent in agents.members(tx, one.stream)
            if agent.backend != "service" and agent.name != agents.PERSON
        ]

    return await store.read(look)


async def is_served(store: Store) -> bool:
    """Whether a host runs that would start agents."""
    return any("run" in host.roles for host in await store.read(hosts.alive))


async def named(store: Store, stream: StreamId, names: Sequence[str]) -> list[Standing]:
    """Who is offline keeps its mail until it is run again or joins."""

    def look(tx: ReadTx) -> list[Standing]:
        found = [agents.find(tx, stream, name) for name in names]
        return [Standing(one, state(tx, one), one.presence(tx.now)) for one in found if one is not None]

    return await store.read(look)


def state(tx: ReadTx, agent: Agent) -> str:
    if agent.backend == "external":
        return agent.presence(tx.now)
    if agent.stopped_at is not None:
        return "stopped"
    return "running" if attempt(tx, agent) else "idle"


def attempt(tx: ReadTx, agent: Agent) -> Attempt | None:
    """The one it is in. What a host that is gone had begun runs no longer, though nobody has closed it yet."""
    found = attempts.running(tx, agent.id)
    return found if found is not None and any(host.id == found.host for host in hosts.alive(tx)) else None
