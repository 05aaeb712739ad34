"""What is kept beside a block never ends it, and what kills it is logged."""

import asyncio

import pytest

from moot.views import keeping
from moot.views.keeping import kept, unbroken

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


async def test_what_is_unbroken_ends_before_its_caller_is_cancelled() -> None:
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def doing() -> None:
        begun.set()
        await may_end.wait()
        ended.set()

    async def caller() -> None:
        try:
            await unbroken(doing())
        except asyncio.CancelledError:
            assert ended.is_set()
            raise

    task = asyncio.ensure_future(caller())
    async with asyncio.timeout(DEADLINE):
        await begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_a_reason_names_the_file_where_the_system_does() -> None:
    assert keeping.told(OSError(28, "No space left on device")) == "No space left on device"
    assert keeping.told(OSError(13, "Permission denied", "a.md")) == "Permission denied (a.md)"
    assert keeping.told(OSError(1, "Not permitted", ".x", None, "b.md")) == "Not permitted (b.md)"
