"""The tools of one attempt: each call carries a key, so that a repeated attempt says nothing twice."""

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from moot.core.caller import Caller
from moot.core.errors import InvalidInput
from moot.core.ids import JobId
from moot.core.json import Json
from moot.core.tool import Tool, ToolAnswer
from moot.ledger import operations
from moot.ledger.operations import Key
from moot.store.store import Store
from moot.tools import dispatch, table
from moot.tools.around import Around


class KeyedTools(Protocol):
    """Tools elsewhere, that recognise a call by its key."""

    async def call(self, name: str, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer: ...


class DeliveryKeys:
    """The keys of one attempt. All attempts at one delivery draw the same: tool, arguments, how many alike before."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    def draw(self, name: str, arguments: Mapping[str, Json], path: str | None = None) -> str:
        """`path` is the place of the call in a tree of sessions, where several call at once and none is the first."""
        call = f"{name[:80]}:{operations.hash_of(arguments)}"
        if path is not None:
            return f"{path}:{call}"
        self._made[call] += 1
        return f"{call}:{self._made[call]}"


class AttemptToolbox:
    """Calls in process, as the attempt."""

    def __init__(self, store: Store, caller: Caller, delivery: JobId, around: Around | None = None) -> None:
        self._store = store
        self._caller = caller
        self._delivery = delivery
        self._around = around or Around()
        self._keys = DeliveryKeys()

    def offered(self) -> tuple[Tool, ...]:
        """What it holds, for whoever has to tell a model of it."""
        return tuple(table.offered(self._caller, self._around.functions))

    async def call(self, name: str, arguments: Mapping[str, Json], path: str | None = None) -> ToolAnswer:
        try:
            key = Key(self._delivery, self._keys.draw(name, arguments, path))
        except InvalidInput as error:
            return dispatch.refusal(error)
        return await dispatch.perform(self._store, self._caller, name, arguments, key, around=self._around, path=path)


class RemoteToolbox:
    """Calls over a connection, under the same keys as in process."""

    def __init__(self, tools: KeyedTools, delivery: JobId) -> None:
        self._tools = tools
        self._delivery = delivery
        self._keys = DeliveryKeys()

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        try:
            key = f"{self._delivery}:{self._keys.draw(name, arguments)}"
        except InvalidInput as error:
            return dispatch.refusal(error)
        return await self._tools.call(name, arguments, key=key)
