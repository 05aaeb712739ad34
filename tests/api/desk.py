"""A connection over a given store, and ways to fill that store."""

from pathlib import Path

from moot.api.connection import Connection
from moot.app.project import Project
from moot.core.caller import SYSTEM, Caller, Role
from moot.core.ids import InstanceName
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.store.store import Store
from moot.tools import talk
from moot.tools.talk import Said, Words

DEFAULT = InstanceName("default")


def person(store: Store, root: Path, instance: InstanceName = DEFAULT) -> Connection:
    return Connection(store, Project(root), Caller("human", "operator", instance))


def as_agent(store: Store, root: Path, agent: Agent, role: Role = "member") -> Connection:
    return Connection(store, Project(root), Caller(agent.name, role, agent.instance, agent.id))


async def join(
    store: Store, name: str, *, backend: str = "scripted", source: str = "", instance: InstanceName = DEFAULT
) -> Agent:
    new = NewAgent(name=name, backend=backend, metadata={"source": source} if source else {})

    def change(tx: Tx) -> Agent:
        return agents.register(tx, instances.ensure(tx, instance), new)

    return await store.write(change, caller=SYSTEM)


async def say(store: Store, agent: Agent, body: str, *to: str) -> Said:
    def change(tx: Tx) -> Said:
        instance = instances.get(tx, agent.instance)
        agents.person(tx, instance)
        return talk.say(tx, instance, agent, Words(body, to))

    return await store.write(change, caller=SYSTEM)
