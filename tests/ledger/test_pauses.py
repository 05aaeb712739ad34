"""A provider that asks to wait is left alone until then, and no longer."""

from collections.abc import Callable
from datetime import datetime, timedelta

from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.ledger import pauses
from moot.ledger.pauses import Pause
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave

MINUTE = timedelta(minutes=1)


async def test_a_pause_is_over_by_itself(store: Store, clock: ManualClock) -> None:
    until = clock.now() + MINUTE
    assert await store.write(lambda tx: pauses.pause(tx, "anthropic", until, "slow down"), caller=SYSTEM)
    assert await store.read(lambda tx: pauses.of_provider(tx, "anthropic")) == Pause(
        "anthropic", until, "slow down", clock.now()
    )
    assert await store.read(lambda tx: pauses.of_provider(tx, "openai")) is None
    assert [one.provider for one in await store.read(pauses.live)] == ["anthropic"]
    clock.advance(MINUTE.total_seconds())
    assert await store.read(lambda tx: pauses.of_provider(tx, "anthropic")) is None
    assert await store.read(pauses.live) == []


async def test_of_two_moments_the_later_counts(store: Store, clock: ManualClock) -> None:
    soon, later = clock.now() + MINUTE, clock.now() + 2 * MINUTE
    assert await store.write(lambda tx: pauses.pause(tx, "openai", later, "later"), caller=SYSTEM)
    assert not await store.write(lambda tx: pauses.pause(tx, "openai", soon, "soon"), caller=SYSTEM)
    (found,) = await store.read(pauses.live)
    assert (found.until, found.reason) == (later, "later")


async def test_a_pause_can_be_lifted(store: Store, clock: ManualClock) -> None:
    until = clock.now() + MINUTE
    await store.write(lambda tx: pauses.pause(tx, "openai", until, ""), caller=SYSTEM)
    assert await store.write(lambda tx: pauses.lift(tx, "openai"), caller=SYSTEM)
    assert not await store.write(lambda tx: pauses.lift(tx, "openai"), caller=SYSTEM)
    assert await store.read(pauses.live) == []


async def test_who_is_asked_to_wait_again_and_again_waits_longer_each_time(store: Store, clock: ManualClock) -> None:
    waits: list[float] = []
    for _ in range(12):
        until = await store.read(lambda tx: pauses.growing(tx, "openai", timedelta(seconds=1)))
        await store.write(lambda tx, until=until: pauses.pause(tx, "openai", until, "busy"), caller=SYSTEM)
        waits.append((until - clock.now()).total_seconds())
        assert await store.read(lambda tx: pauses.growing(tx, "openai", MINUTE)) == until  # others wait as long
        clock.advance(waits[-1] + 5)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]
    clock.advance(3600)
    assert await store.read(lambda tx: pauses.growing(tx, "openai", MINUTE)) == clock.now() + MINUTE


async def test_of_two_at_once_the_later_moment_counts(pg_store: PostgresStore, clock: ManualClock) -> None:
    soon, later = clock.now() + MINUTE, clock.now() + 2 * MINUTE

    def pause(until: datetime, reason: str) -> Callable[[Tx], bool]:
        return lambda tx: pauses.pause(tx, "openai", until, reason)

    await interleave(pg_store, pause(later, "later"), pause(soon, "soon"))
    (found,) = await pg_store.read(pauses.live)
    assert found.reason == "later"
