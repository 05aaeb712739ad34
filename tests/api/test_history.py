"""Events of an instance, the last ones and those to come."""

import asyncio
from pathlib import Path

from moot.api import history
from moot.core.ids import InstanceName
from moot.store.store import Store
from tests.api.desk import join, person, say


async def test_the_last_events_come_oldest_first(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    said = [await say(store, ann, body) for body in ("one", "two")]
    human = person(store, tmp_path)
    assert [event.seq for event in await history.latest(human, 100)] == [1, 2, 3, 4]
    assert [event.subject for event in await history.latest(human, 1)] == [said[1].message.id]


async def test_an_instance_that_is_not_there_has_no_events(store: Store, tmp_path: Path) -> None:
    await join(store, "ann")
    assert await history.latest(person(store, tmp_path, InstanceName("other")), 10) == []


async def test_events_are_followed_from_a_number(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    said = await say(store, ann, "hello")
    async with asyncio.timeout(20):
        async for event in history.follow(person(store, tmp_path), said.message.seq - 1):
            assert event.subject == said.message.id
            break
