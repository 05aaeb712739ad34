"""Hosts are alive while their lease runs."""

from moot.core.caller import SYSTEM
from moot.core.ids import HostId
from moot.registry import hosts
from moot.registry.hosts import Host, NewHost
from moot.store.store import Store
from moot.testing.clock import ManualClock


async def register(store: Store, process: str = "p1") -> HostId:
    return await store.write(lambda tx: hosts.register(tx, NewHost("m", process, ("serve", "run"), "u")), caller=SYSTEM)


async def alive(store: Store) -> list[HostId]:
    return [host.id for host in await store.read(hosts.alive)]


async def test_a_host_is_known_with_what_it_does(store: Store, clock: ManualClock) -> None:
    id = await register(store)
    started = clock.now()
    assert await store.read(hosts.alive) == [
        Host(id, "m", "p1", ("serve", "run"), "u", started, started + hosts.LEASE, None)
    ]


async def test_a_host_is_gone_when_its_lease_has_run_out(store: Store, clock: ManualClock) -> None:
    id = await register(store)
    clock.advance(29.999999)
    assert await alive(store) == [id]
    clock.advance(0.000001)
    assert await alive(store) == []


async def test_a_renewed_lease_runs_on(store: Store, clock: ManualClock) -> None:
    id = await register(store)
    clock.advance(20)
    await store.write(lambda tx: hosts.renew(tx, id), caller=SYSTEM)
    clock.advance(20)
    assert await alive(store) == [id]


async def test_expired_hosts_are_closed_once_and_the_living_stay(store: Store, clock: ManualClock) -> None:
    await register(store, "p1")
    clock.advance(20)
    living = await register(store, "p2")
    clock.advance(20)
    assert await store.write(hosts.expire, caller=SYSTEM) == 1
    assert await store.write(hosts.expire, caller=SYSTEM) == 0
    assert await alive(store) == [living]


async def test_a_host_declared_dead_by_mistake_comes_back_by_renewing(store: Store, clock: ManualClock) -> None:
    id = await register(store)
    clock.advance(31)
    await store.write(hosts.expire, caller=SYSTEM)
    await store.write(lambda tx: hosts.renew(tx, id), caller=SYSTEM)
    assert await alive(store) == [id]


async def test_a_stopped_host_is_gone_at_once(store: Store, clock: ManualClock) -> None:
    first = await register(store, "p1")
    clock.advance(1)
    second = await register(store, "p2")
    assert await alive(store) == [first, second]
    await store.write(lambda tx: hosts.stop(tx, first), caller=SYSTEM)
    assert await alive(store) == [second]
