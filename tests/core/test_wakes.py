"""Wake-ups inside one process."""

import asyncio

from moot.core.wakes import Wakes

DEADLINE = 20.0


async def test_a_ring_wakes_everybody_who_listens() -> None:
    wakes = Wakes()
    with wakes.listen() as first, wakes.listen() as second:
        waiting = asyncio.gather(first.wait(DEADLINE), second.wait(DEADLINE))
        await asyncio.sleep(0)
        wakes.ring()
        assert await waiting == [True, True]


async def test_a_ring_between_looking_and_waiting_is_not_lost() -> None:
    wakes = Wakes()
    with wakes.listen() as signal:
        signal.clear()
        wakes.ring()
        assert await signal.wait(DEADLINE)


async def test_a_ring_stays_until_it_is_cleared() -> None:
    wakes = Wakes()
    with wakes.listen() as signal:
        wakes.ring()
        assert await signal.wait(DEADLINE)
        assert await signal.wait(DEADLINE)
        signal.clear()
        assert not await signal.wait(0)


async def test_what_was_rung_before_is_not_heard() -> None:
    wakes = Wakes()
    wakes.ring()
    with wakes.listen() as signal:
        assert not await signal.wait(0)


async def test_nobody_is_heard_after_the_last_has_left() -> None:
    wakes = Wakes()
    assert not wakes.is_heard
    with wakes.listen():
        with wakes.listen():
            assert wakes.is_heard
        assert wakes.is_heard
    assert not wakes.is_heard
    wakes.ring()


async def test_a_wait_that_is_cancelled_ends() -> None:
    wakes = Wakes()
    with wakes.listen() as signal:
        waiting = asyncio.ensure_future(signal.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait((waiting,), timeout=DEADLINE)
        assert waiting.cancelled()
