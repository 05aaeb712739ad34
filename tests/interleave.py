"""Two transactions that meet: the second runs while the first is done but not committed.

A test that runs one function after the other never shows a lost update. This one does:

    async def test_two_votes_count_twice(pg_store: PostgresStore) -> None:
        met = await interleave(pg_store, lambda tx: vote(tx, "ann"), lambda tx: vote(tx, "bob"))
        assert met.second_waited
        assert (met.first, met.second) == (1, 2)

Both run on connections of their own, on PostgreSQL only: on SQLite the writer is alone. What a function raises comes
out of `interleave` (the first one's error before the second one's), so `pytest.raises` around it works.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from moot.core.caller import SYSTEM, Caller
from moot.core.tx import Query, ReadTx, Tx
from moot.store.postgres import PostgresStore

A = TypeVar("A")
B = TypeVar("B")
_SECONDS = 20.0
_PROCESS = Query("process", "", "select pg_backend_pid()")
_WAITS = Query("waits", "", "select %(first)s = any(pg_blocking_pids(cast(%(second)s as integer)))")


@dataclass(frozen=True, slots=True)
class Met(Generic[A, B]):
    """What the two returned, and whether the second had to wait for the first one's commit."""

    first: A
    second: B
    second_waited: bool


async def interleave(
    store: PostgresStore,
    first: Callable[[Tx], A],
    second: Callable[[Tx], B],
    *,
    callers: tuple[Caller, Caller] = (SYSTEM, SYSTEM),
) -> Met[A, B]:
    """Run `first` to its end but not its commit; start `second`; once that is done, or waits for a lock of the
    first, commit the first; then wait for both."""
    loop = asyncio.get_running_loop()
    is_at_end, may_commit = asyncio.Event(), threading.Event()
    processes: dict[str, int] = {}

    def held(tx: Tx) -> A:
        processes["first"] = tx.one(_PROCESS, int)
        result = first(tx)
        loop.call_soon_threadsafe(is_at_end.set)
        assert may_commit.wait(_SECONDS), "the second function neither ended nor waited for the first"
        return result

    def free(tx: Tx) -> B:
        processes["second"] = tx.one(_PROCESS, int)
        return second(tx)

    async with asyncio.timeout(2 * _SECONDS):
        one = asyncio.ensure_future(store.write(held, caller=callers[0]))
        try:
            await _either(one, is_at_end)
            if one.done():
                one.result()  # it failed before its end, and says why
            two = asyncio.ensure_future(store.write(free, caller=callers[1]))
            second_waited = await _is_blocked(store, two, processes)
        finally:
            may_commit.set()
        await asyncio.wait((one, two))
        return Met(one.result(), two.result(), second_waited)


async def _either(future: "asyncio.Future[A]", event: asyncio.Event) -> None:
    """Until the function is at its end, or has failed before."""
    waiting = asyncio.ensure_future(event.wait())
    await asyncio.wait((future, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


async def _is_blocked(store: PostgresStore, two: "asyncio.Future[B]", processes: dict[str, int]) -> bool:
    """True when it waits for a lock of the first, False when it has ended. Asks the server until one is so."""

    def waits(tx: ReadTx) -> bool:
        return "second" in processes and tx.one(_WAITS, bool, **processes)

    while not two.done():
        if await store.read(waits):
            return True
    return False
