"""Instances are made once, with an empty stream."""

import pytest

from moot.core.caller import SYSTEM
from moot.registry import instances
from moot.registry.errors import InstanceNotFound, NameRefused
from moot.registry.instances import Instance
from moot.store import streams
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave


async def ensure(store: Store, name: str) -> Instance:
    return await store.write(lambda tx: instances.ensure(tx, name), caller=SYSTEM)


async def test_an_instance_is_made_on_first_use_and_then_kept(store: Store, clock: ManualClock) -> None:
    made = await ensure(store, "default")
    assert (made.name, made.created_at) == ("default", clock.now())
    clock.advance(1)
    assert await ensure(store, "default") == made
    assert await store.read(lambda tx: instances.get(tx, "default")) == made


async def test_every_instance_has_a_stream_of_its_own(store: Store, clock: ManualClock) -> None:
    first = await ensure(store, "b")
    clock.advance(1)
    second = await ensure(store, "a")
    assert first.stream != second.stream
    assert await store.read(instances.all_of) == [first, second]


async def test_looking_for_an_instance_does_not_make_it(store: Store) -> None:
    assert await store.read(lambda tx: instances.find(tx, "default")) is None
    with pytest.raises(InstanceNotFound) as missing:
        await store.read(lambda tx: instances.get(tx, "default"))
    assert missing.value.code == "INSTANCE_NOT_FOUND"
    assert await store.read(instances.all_of) == []


async def test_a_name_that_cannot_be_an_instance_is_refused(store: Store) -> None:
    with pytest.raises(NameRefused):
        await ensure(store, "../x")
    assert await store.read(instances.all_of) == []


async def test_two_who_make_an_instance_at_once_get_the_same(pg_store: PostgresStore) -> None:
    met = await interleave(
        pg_store, lambda tx: instances.ensure(tx, "default"), lambda tx: instances.ensure(tx, "default")
    )
    assert met.second_waited
    assert met.first == met.second
    assert await pg_store.read(instances.all_of) == [met.first]
    assert await pg_store.write(lambda tx: streams.create(tx, met.first.stream, "default"), caller=SYSTEM) is None
