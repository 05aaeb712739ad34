"""Leave for what a session wants to do to the world: a durable request to the person."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace

from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.hours import Hours
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import Tx
from moot.ledger import operations
from moot.ledger.operations import Deed
from moot.registry import agents, instances
from moot.requests import requests
from moot.session.journal import Done, Intent, Journal
from moot.store.store import Store
from moot.tools import approving, asking
from moot.tools.approving import Approve
from moot.tools.call import StoreCall

_log = logging.getLogger("moot.runner")


class _Asked:
    """What a tree waits for, by hash. Of several who want the same, one asks after the other: an approval is for one of
    them, and who is still interested takes over what another has given up."""

    def __init__(self) -> None:
        self.unawaited: set[str] = set()  # what was asked, and nobody waits for any more
        self.closing = asyncio.Lock()
        self._turns: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def alone(self, hash: str) -> AsyncGenerator[None]:
        async with self._turns.setdefault(hash, asyncio.Lock()):
            async with self.closing:  # what is being closed is not taken over
                self.unawaited.discard(hash)
            yield


@record
class SessionRequests:
    """Asks as the attempt. What was approved before an interruption is found again, once."""

    store: Store
    caller: Caller
    asker: str = ""  # who in the tree wants it; empty: the agent itself
    asked: _Asked = field(default_factory=_Asked)
    hours: Hours = field(default_factory=Hours)  # in which waiting for the person does not count

    def of(self, asker: str) -> "SessionRequests":
        return replace(self, asker=asker)

    async def denial(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
        hash = approving.hash_of(tool, arguments, self.asker)
        with self.hours.stand_still():
            return await self._in_turn(tool, arguments, hash)

    async def _in_turn(self, tool: str, arguments: Mapping[str, Json], hash: str) -> str | None:
        async with self.asked.alone(hash):
            return await self._denial(tool, arguments, hash)

    async def _denial(self, tool: str, arguments: Mapping[str, Json], hash: str) -> str | None:
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
        except asyncio.CancelledError:
            self.asked.unawaited.add(hash)
            raise

    async def withdraw(self) -> None:
        """Close what nobody waits for any more, though moot goes on. If moot itself has ended, the next attempt waits
        for the same, and what was approved meanwhile counts."""
        if not self.asked.unawaited:
            return
        async with self.asked.closing:
            hashes = frozenset(self.asked.unawaited)
            try:
                await self.store.write(lambda tx: self._withdraw(tx, hashes), caller=self.caller)
            except MootError:  # there is another time to do that
                _log.warning("a request of %s cannot be closed", self.caller.name, exc_info=True)
            else:
                self.asked.unawaited.difference_update(hashes)

    def _withdraw(self, tx: Tx, hashes: frozenset[str]) -> None:
        assert self.caller.agent is not None
        agent = agents.get(tx, self.caller.agent)
        instance = instances.get(tx, agent.instance)
        for one in requests.open_of(tx, agent.stream):
            if one.requester_id == agent.id and one.hash in hashes:
                asking.cancel(tx, instance, one.id, agent, is_operator=False)


class Withdrawing:
    """A journal by which the requests of those who have ended are closed."""

    def __init__(self, journal: Journal, requests: SessionRequests) -> None:
        self.known, self.open_below, self.given_back = journal.known, journal.open_below, journal.given_back
        self._note = journal.note
        self._requests = requests

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        await self._note(done, begun)
        if self._requests.asked.unawaited:
            await self._requests.withdraw()
