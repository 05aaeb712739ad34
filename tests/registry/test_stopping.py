"""A stopped agent is offline until it is released."""

from moot.registry import agents, stopping
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.registry.house import build


async def test_an_agent_is_stopped_and_released_once(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann", backend="scripted")
    assert await house.write(lambda tx: [stopping.stop(tx, ann), stopping.stop(tx, ann)]) == [True, False]
    stopped = await house.read(lambda tx: agents.get(tx, ann.id))
    assert (stopped.stopped_at, stopped.presence(clock.now())) == (clock.now(), "offline")
    assert await house.write(lambda tx: [stopping.release(tx, ann), stopping.release(tx, ann)]) == [True, False]
    assert (await house.read(lambda tx: agents.get(tx, ann.id))).stopped_at is None
    told = [event.kind for event in await house.events() if event.subject == ann.id]
    assert told == ["agent_registered", "agent_stopped", "agent_released"]


async def test_who_has_left_is_neither_stopped_nor_released(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann", backend="scripted")
    await house.write(lambda tx: agents.unregister(tx, ann.id))
    assert await house.write(lambda tx: [stopping.stop(tx, ann), stopping.release(tx, ann)]) == [False, False]
