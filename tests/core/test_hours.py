"""Limits run in hours that can be made to stand still."""

import asyncio

import pytest

from moot.core.hours import Hours
from tests import plain_loop
from tests.plain_loop import set_forward

anyio_backend = plain_loop.anyio_backend


async def until_cut_off(hours: Hours, end: float) -> None:
    async with hours.until(end):
        await asyncio.Event().wait()


async def test_a_limit_cuts_off_when_it_is_reached() -> None:
    hours = Hours()
    cut = asyncio.ensure_future(until_cut_off(hours, hours.now() + 10))
    await asyncio.sleep(0)
    set_forward(11)
    with pytest.raises(TimeoutError):
        await cut


async def test_who_has_no_limit_is_not_cut_off() -> None:
    async with Hours().until(None):
        set_forward(1_000)
        assert await asyncio.sleep(0.01, "still there") == "still there"


async def test_what_is_waited_does_not_count() -> None:
    hours = Hours()
    cut = asyncio.ensure_future(until_cut_off(hours, hours.now() + 10))
    await asyncio.sleep(0)
    before = hours.now()
    with hours.stand_still():
        set_forward(100)
        assert hours.now() == pytest.approx(before, abs=5)
        late = asyncio.ensure_future(until_cut_off(hours, hours.now() + 10))  # begun while others wait
        with hours.stand_still():  # two wait at once, and the time is counted once
            set_forward(100)
        await asyncio.sleep(0)
        assert not cut.done()
    await asyncio.sleep(0)
    assert hours.now() == pytest.approx(before, abs=5)
    assert [one.done() for one in (cut, late)] == [False, False]
    set_forward(11)
    for one in (cut, late):
        with pytest.raises(TimeoutError):
            await one


async def test_a_limit_that_is_over_keeps_nobody_from_waiting() -> None:
    hours, is_cut, may_end = Hours(), asyncio.Event(), asyncio.Event()

    async def ending_slowly() -> None:
        async with hours.until(hours.now() + 10):
            try:
                await asyncio.Event().wait()
            finally:
                is_cut.set()
                await may_end.wait()

    cut = asyncio.ensure_future(ending_slowly())
    await asyncio.sleep(0)
    set_forward(11)
    await is_cut.wait()
    with hours.stand_still():
        may_end.set()
        with pytest.raises(TimeoutError):
            await cut
