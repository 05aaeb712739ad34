"""Speaking for a person of the project who is not the one at the terminal."""

from dataclasses import replace

from moot.api.connection import Connection
from moot.core.caller import Caller
from moot.core.errors import NotAllowed
from moot.core.tx import ReadTx
from moot.registry import agents, instances
from moot.registry.agents import Agent


async def acting_as(connection: Connection, name: str | None) -> Connection:
    """The same connection as that person; only the operator may, and only for people."""
    if name is None:
        return connection
    if connection.caller.role != "operator":
        raise NotAllowed(f"{connection.caller.name} speaks only for itself.", "Leave --as away.")

    def look(tx: ReadTx) -> Agent:
        return agents.named(tx, instances.get(tx, connection.caller.instance).stream, name)

    person = await connection.store.read(look)
    if person.backend != "human":
        raise NotAllowed(f"{person.name} is no person.", "Only agents with backend: human can be spoken for.")
    if person.name == agents.PERSON:
        return connection
    return replace(connection, caller=Caller(person.name, "member", person.instance, person.id))
