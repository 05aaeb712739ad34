"""A host that cannot write says so once, waits, and says when it goes on."""

import asyncio
import logging

import pytest

from moot.runner.trouble import LOGGER, Trouble
from moot.store.errors import StoreFull
from moot.store.store import Store
from tests.runner.team import SECONDS, gather, make_host, running

FULL = "The host waits and tries again: The disk is full. Free some."


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name == LOGGER]


def test_trouble_is_told_once_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    trouble, full = Trouble(), StoreFull("The disk is full.", "Free some.")
    trouble.over()
    for error in (full, full, OSError("else"), full):
        trouble.met(error)
    trouble.over()
    trouble.over()
    assert told(caplog) == [FULL, "The host waits and tries again: else", FULL, "The host goes on."]


async def test_a_host_tells_of_a_full_disk_and_goes_on_when_there_is_room(
    store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = await gather(store, {"coder": [{"say": "here"}]})
    host = make_host(store)
    take, failures = host._take, 2  # pyright: ignore[reportPrivateUsage]
    tried = asyncio.Event()

    def fails(tx: object) -> object:
        nonlocal failures
        if failures:
            failures -= 1
            raise StoreFull("The disk is full.", "Free some.")
        tried.set()
        return take(tx)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(host, "_take", fails)
    with caplog.at_level(logging.WARNING):
        async with running(host):
            await team.say("@coder hello")
            async with asyncio.timeout(SECONDS):
                await tried.wait()
            await team.idle()
    assert (await team.bodies())[-1] == "coder: here"
    assert told(caplog) == [FULL, "The host goes on."]
