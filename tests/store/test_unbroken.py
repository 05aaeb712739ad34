"""Whoever is cancelled while something is written still learns what became of it."""

import asyncio

import pytest

from moot.store import unbroken


async def test_what_is_written_while_its_caller_is_cancelled_is_told_before_that_ends() -> None:
    writing, late = asyncio.get_running_loop().create_future(), list[str]()
    caller = asyncio.ensure_future(unbroken.result(writing, late=late.append))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    writing.set_result("committed")
    await asyncio.wait([caller])
    assert (caller.cancelled(), late) == (True, ["committed"])


async def test_what_fails_meanwhile_is_nothing_to_be_told() -> None:
    writing, late = asyncio.get_running_loop().create_future(), list[str]()
    caller = asyncio.ensure_future(unbroken.result(writing, late=late.append))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.sleep(0)
    writing.set_exception(ValueError("refused"))
    await asyncio.wait([caller])
    assert (caller.cancelled(), late) == (True, [])


async def test_who_is_not_cancelled_has_the_result() -> None:
    late = list[str]()

    async def write() -> str:
        return "committed"

    assert (await unbroken.result(write(), late=late.append), late) == ("committed", [])

    async def fail() -> str:
        raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        await unbroken.result(fail(), late=late.append)
