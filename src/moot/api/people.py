"""Speaking for somebody who is not the one at the terminal: a person of the project, or an agent from outside."""

from typing import TypeVar

from moot.api.access import Access
from moot.api.connection import Connection
from moot.core.caller import Caller
from moot.core.errors import NotAllowed
from moot.core.records import replace
from moot.core.tx import ReadTx
from moot.registry import agents, instances, names
from moot.registry.agents import Agent
from moot.tools import groups, sharing
from moot.tools.groups import Acting, Looking

C = TypeVar("C", bound=Access)


async def acting_as(connection: C, name: str | None) -> C:
    """The same connection as that person; only the operator may, and only for people."""
    if name is None:
        return connection
    person = await _meant(connection, name)
    if person.backend != "human":
        raise NotAllowed(f"{person.name} is no person.", "Only agents with backend: human can be spoken for.")
    return connection if person.name == agents.PERSON else _as(connection, person)


async def speaking_for(connection: Connection, name: str, tool: Looking | Acting) -> Connection:
    """The same connection as that agent from outside, if it holds the tool; only the operator may, or the agent itself
    by its token."""
    if names.fold(connection.caller.name) == names.fold(name):
        return connection
    agent = await _meant(connection, name)
    if agent.backend != "external":
        raise NotAllowed(f"{agent.name} is started by moot and speaks for itself.", "Name one that joins from outside.")
    found = _as(connection, agent)
    groups.check(await connection.store.read(lambda tx: sharing.as_now(tx, found.caller)), tool)
    return found


async def _meant(connection: Access, name: str) -> Agent:
    if connection.caller.role != "operator":
        raise NotAllowed(f"{connection.caller.name} speaks only for itself.", "Leave the other name away.")

    def look(tx: ReadTx) -> Agent:
        return agents.named(tx, instances.get(tx, connection.caller.instance).stream, name)

    return await connection.store.read(look)


def _as(connection: C, agent: Agent) -> C:
    return replace(connection, caller=Caller(agent.name, "member", agent.instance, agent.id))
