"""What is kept beside a block never ends it, and what kills it is logged."""

import asyncio

import pytest

from moot.views.keeping import kept

DEADLINE = 20.0


async def test_what_kills_it_is_logged_while_the_block_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    died = asyncio.Event()
    looked: list[str] = []

    async def run() -> None:
        died.set()
        raise RuntimeError("a mistake of ours")

    async def look() -> None:
        looked.append("at the end")

    async with asyncio.timeout(DEADLINE), kept(run, look, "documents"):
        await died.wait()
        assert looked == []
    assert looked == ["at the end"]
    assert "documents are not brought to disk any more" in caplog.text
    assert "a mistake of ours" in caplog.text


async def test_it_ends_with_the_block_and_a_last_look_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    ended = asyncio.Event()
    begun = asyncio.Event()

    async def run() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def look() -> None:
        assert ended.is_set()
        raise OSError("no space left")

    async def block() -> None:
        async with asyncio.timeout(DEADLINE), kept(run, look, "documents"):
            await begun.wait()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await block()
    assert [record.getMessage() for record in caplog.records] == [
        "documents could not be brought to disk: no space left"
    ]
