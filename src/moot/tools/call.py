"""A call of a tool over the store: fence and key are checked, the change and its record committed together."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from typing import TypeVar, cast

from pydantic import BaseModel

from moot.core.caller import SYSTEM, Caller
from moot.core.ears import Ears
from moot.core.errors import MootError
from moot.core.ids import OperationId, StreamId
from moot.core.library import Library, NoLibrary
from moot.core.records import record
from moot.core.tool import Tool
from moot.core.tx import ReadTx, Tx
from moot.ledger import operations
from moot.ledger.operations import Deed
from moot.registry import attempts
from moot.store.store import Store

T = TypeVar("T")
LONGEST_WAIT = 50.0


@record
class Made:
    """What a call is on record as, and what came of it: stream and number of each event, once it is committed."""

    operation: OperationId
    events: Sequence[tuple[StreamId, int]]


@record
class _Begun:
    id: OperationId


@record
class StoreCall:
    """The hands of one tool call."""

    store: Store
    caller: Caller
    tool: Tool
    deed: Deed
    made: list[Made] = field(default_factory=list[Made])  # the last one stays
    library: Library = field(default_factory=NoLibrary)
    ears: Ears = field(default_factory=Ears)

    async def write(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(lambda tx: self._once(tx, change), caller=self.caller)

    async def read(self, look: Callable[[ReadTx], T]) -> T:
        return await self.store.read(look)

    async def upkeep(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)

    async def outside(self, act: Callable[[], Awaitable[T]]) -> T:
        operation = await self.store.write(self._intend, caller=self.caller)
        if isinstance(operation, str):
            return cast(T, self.tool.result.model_validate_json(operation))
        try:
            result = await act()
        except MootError as error:  # anything else, and cancellation, leaves the outcome unknown
            failure = str(error)
            await self.store.write(lambda tx: operations.fail(tx, operation.id, failure), caller=self.caller)
            raise
        assert isinstance(result, BaseModel)
        answer = result.model_dump_json()
        await self.store.write(lambda tx: operations.end(tx, operation.id, answer), caller=self.caller)
        return result

    async def wait(self, ready: Callable[[ReadTx], T | None], seconds: float) -> T | None:
        until = time.monotonic() + min(seconds, LONGEST_WAIT)
        with self.store.listen() as signal:
            while True:
                signal.clear()
                found = await self.store.read(ready)
                left = until - time.monotonic()
                if found is not None or left <= 0:
                    return found
                await signal.wait(left)

    def _intend(self, tx: Tx) -> "_Begun | str":
        """The operation that is now on record, or what the same call was answered before."""
        attempts.guard(tx, self.caller)
        operation = operations.begin(tx, self.deed, self.caller, is_outside=True)
        if operation is None:
            return operations.repeat(tx, self.deed, self.caller)
        self.made.append(Made(operation, tx.appended))
        return _Begun(operation)

    def _once(self, tx: Tx, change: Callable[[Tx], T]) -> T:
        attempts.guard(tx, self.caller)
        operation = operations.begin(tx, self.deed, self.caller)
        if operation is None:
            answered = operations.repeat(tx, self.deed, self.caller)
            return cast(T, self.tool.result.model_validate_json(answered))
        self.made.append(Made(operation, tx.appended))
        result = change(tx)
        if self.deed.key is not None:
            assert isinstance(result, BaseModel)
            operations.end(tx, operation, result.model_dump_json())
        return result
