"""A store for property tests: opened once, used by many examples, each on the same event loop."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from hypothesis import Phase, settings

from moot.core.caller import SYSTEM
from moot.core.tx import ReadTx, Tx
from moot.store import postgres, sqlite
from moot.store.store import Store
from moot.testing.clock import ManualClock

T = TypeVar("T")
DATABASES = ("sqlite", "postgres")
# The same SQL runs on both, so the fast one tries more. No deadline: a busy machine may take its time.
_EXAMPLES = {"sqlite": 60, "postgres": 20}
_PHASES = (Phase.reuse, Phase.generate)  # shrinking a failure takes minutes: add it by hand when there is one


@dataclass(frozen=True)
class Bench:
    """Runs functions over a store to their end."""

    store: Store
    clock: ManualClock
    settings: settings
    run: Callable[[Coroutine[Any, Any, Any]], Any]

    def write(self, change: Callable[[Tx], T]) -> T:
        result: T = self.run(_written(self.store, change))
        return result

    def read(self, look: Callable[[ReadTx], T]) -> T:
        result: T = self.run(_read(self.store, look))
        return result


@contextmanager
def bench(database: str, request: pytest.FixtureRequest) -> Generator[Bench]:
    """On one of `DATABASES`, for the time of one test."""
    clock = ManualClock()
    tried = settings(max_examples=_EXAMPLES[database], stateful_step_count=40, deadline=None, phases=_PHASES)
    with asyncio.Runner() as runner:
        store: Store
        if database == "sqlite":
            store = sqlite.open_memory(clock=clock)
        else:
            store = postgres.open_url(request.getfixturevalue("pg_made_url"), create=True, clock=clock)
        try:
            yield Bench(store, clock, tried, runner.run)
        finally:
            runner.run(store.close())


async def _written(store: Store, change: Callable[[Tx], T]) -> T:
    return await store.write(change, caller=SYSTEM)


async def _read(store: Store, look: Callable[[ReadTx], T]) -> T:
    return await store.read(look)
