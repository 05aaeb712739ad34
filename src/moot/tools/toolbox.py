"""The tools of one attempt in process: each call carries a key, so that a repeated attempt says nothing twice."""

from collections import Counter
from collections.abc import Mapping

from moot.core.caller import Caller
from moot.core.errors import InvalidInput
from moot.core.ids import JobId
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from moot.ledger import operations
from moot.ledger.operations import Key
from moot.store.store import Store
from moot.tools import dispatch


class AttemptToolbox:
    """Bound to one attempt. All attempts at one delivery share its keys: tool, arguments, how many alike before."""

    def __init__(self, store: Store, caller: Caller, delivery: JobId) -> None:
        self._store = store
        self._caller = caller
        self._delivery = delivery
        self._made: Counter[str] = Counter()

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        try:
            call = f"{name}:{operations.hash_of(arguments)}"
        except InvalidInput as error:
            return dispatch.refusal(error)
        self._made[call] += 1
        key = Key(self._delivery, f"{call}:{self._made[call]}")
        return await dispatch.perform(self._store, self._caller, name, arguments, key)
