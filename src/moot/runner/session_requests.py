"""Leave for what a session wants to do to the world: a durable request to the person."""

from collections.abc import Mapping
from dataclasses import dataclass

from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.json import Json
from moot.ledger import operations
from moot.ledger.operations import Deed
from moot.registry import agents
from moot.store.store import Store
from moot.tools import approving
from moot.tools.approving import Approve
from moot.tools.call import StoreCall


@dataclass(frozen=True, slots=True)
class SessionRequests:
    """Asks as the attempt. What was approved before an interruption is found again, once."""

    store: Store
    caller: Caller
    asker: str = ""  # who in the tree wants it; empty: the agent itself

    async def denial(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
        try:
            asked = Approve(tool_name=tool, input=dict(arguments))
            call = StoreCall(
                self.store, self.caller, approving.TOOLS[0], Deed("tool", "approve", operations.hash_of(arguments))
            )
            assert self.caller.agent is not None
            id = self.caller.agent
            agent = await self.store.read(lambda tx: agents.get(tx, id))
            return await approving.leave(call, agent, asked, self.asker)
        except MootError as error:  # what cannot be asked is not allowed
            return str(error)
