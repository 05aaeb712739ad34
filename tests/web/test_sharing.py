"""Many who look at the same are told by few looks, and nobody by one that had begun before it asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from moot.core.errors import InvalidInput
from moot.web.sharing import Content, Sharing


class Clerk:
    """Looks when it is let, and numbers its looks."""

    def __init__(self) -> None:
        self.looks = 0
        self.may_end = asyncio.Event()
        self.has_begun = asyncio.Event()

    async def look(self) -> Content:
        self.looks += 1
        number = self.looks
        self.has_begun.set()
        await self.may_end.wait()
        return Content(str(number).encode(), "text/plain")


@pytest.fixture
async def sharing(anyio_backend: object) -> AsyncIterator[Sharing]:
    found = Sharing()
    task = asyncio.ensure_future(found.run())
    await asyncio.sleep(0)
    yield found
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_who_asks_while_a_look_is_made_is_told_by_the_next_one(sharing: Sharing) -> None:
    clerk = Clerk()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        first = group.create_task(sharing.answer("key", clerk.look))
        await clerk.has_begun.wait()
        others = [group.create_task(sharing.answer("key", clerk.look)) for _ in range(50)]
        await asyncio.sleep(0)
        clerk.may_end.set()
    assert first.result().body == b"1"
    assert {other.result().body for other in others} == {b"2"}
    assert clerk.looks == 2


async def test_looks_at_other_things_are_not_shared(sharing: Sharing) -> None:
    clerk = Clerk()
    clerk.may_end.set()
    found = await asyncio.gather(*(sharing.answer(key, clerk.look) for key in ("a", "b", "c")))
    assert sorted(one.body for one in found) == [b"1", b"2", b"3"]


async def test_everybody_who_waits_hears_that_a_look_failed_and_the_next_is_made_anew(sharing: Sharing) -> None:
    async def fail() -> Content:
        raise InvalidInput("no")

    answers = [sharing.answer("key", fail) for _ in range(3)]
    assert [type(one) for one in await asyncio.gather(*answers, return_exceptions=True)] == [InvalidInput] * 3
    clerk = Clerk()
    clerk.may_end.set()
    async with asyncio.timeout(20):
        assert (await sharing.answer("key", clerk.look)).body == b"1"


async def test_who_goes_away_does_not_take_the_answer_from_the_others(sharing: Sharing) -> None:
    clerk = Clerk()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        leaving = group.create_task(sharing.answer("key", clerk.look))
        staying = group.create_task(sharing.answer("key", clerk.look))
        await clerk.has_begun.wait()
        leaving.cancel()
        await asyncio.sleep(0)
        clerk.may_end.set()
    assert staying.result().body == b"1"
